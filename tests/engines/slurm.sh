#!/bin/sh
#SBATCH --array=1-4 --requeue --output=/dev/null
# The tasks of a list as a Slurm job array: sbatch slurm.sh TASKS.TXT. With 4 elements, each does every fourth line. An element whose
# node is lost is queued again; the tasks that it had done are then passed over.
awk -v count="$SLURM_ARRAY_TASK_COUNT" -v element="$SLURM_ARRAY_TASK_ID" 'NR % count == element % count' "$1" |
    xargs -d '\n' -I{} sh -c {}
