#!/bin/sh
# parallel.sh TASKS.TXT [OPTION...]: GNU parallel runs the tasks. The options are its own, such as --jobs 8. A task that fails or whose
# process is killed is started again, three times in all.
tasks=$1
shift
exec parallel --retries 3 "$@" <"$tasks"
