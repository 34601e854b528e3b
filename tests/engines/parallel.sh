#!/bin/sh
# The tasks of a list with GNU parallel: parallel.sh TASKS.TXT [OPTION...]. Options are parallel's own, such as --jobs 8 or
# --sshloginfile HOSTS. A task whose process was killed is started again, three times in all.
tasks=$1
shift
exec parallel --retries 3 "$@" <"$tasks"
