#!/bin/sh
#SBATCH --array=1-4 --requeue --output=/dev/null
# sbatch slurm.sh TASKS.TXT: a job array runs the tasks. With 4 elements, each runs every fourth line. An element whose node is lost is
# queued again; the tasks that it had done are then not done again.
awk -v count="$SLURM_ARRAY_TASK_COUNT" -v element="$SLURM_ARRAY_TASK_ID" 'NR % count == element % count' "$1" |
    xargs -d '\n' -I{} sh -c {}
