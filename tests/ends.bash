# A script that sources this before all else ends with all that it has started: on ^C, SIGTERM, SIGHUP or
# SIGQUIT, within 2 seconds, with 128 and the signal's number as its exit status.
# Background jobs of bash do not hear ^C, `timeout` makes process groups of its own, and a signal to the
# script alone reaches no other process. So a second bash does the script's work with a mark in its
# environment, which all that it starts inherits. The first bash waits, and ends what has the mark.
# shellcheck shell=bash disable=SC2317,SC2329 # functions are called through trap
ENDS_WITH=${ENDS_WITH-}
case ${ENDS_WITH##* } in
"$PPID":*) return ;; # this is the second bash
esac

ends_second= # its number: for a moment it has no mark yet
ends_mark=$$:$RANDOM$RANDOM
# The processes with the mark, also those that lost their parent or lead a session. Zombies have none.
ends_started() { grep -lsaF " $ends_mark" /proc/[0-9]*/environ | cut -d / -f 3; }

ends_now() { # SIGNAL STATUS
    local started='' found
    trap '' INT TERM HUP QUIT
    # All are stopped first, until no new one is found: nothing is started while they end.
    while found=$(ends_started) && [ "$found" != "$started" ]; do
        started=$found
        # shellcheck disable=SC2086 # numbers with spaces between them, here and below
        kill -STOP $ends_second $started 2>/dev/null
    done
    # shellcheck disable=SC2086
    kill -TERM $ends_second $started 2>/dev/null
    # shellcheck disable=SC2086
    kill -CONT $ends_second $started 2>/dev/null
    for _ in {1..10}; do # they remove their temporary files
        sleep 0.1
        started=$(ends_started)
        [ -n "$started" ] || break
    done
    # shellcheck disable=SC2086
    [ -z "$started" ] || kill -KILL $started 2>/dev/null
    echo "${0##*/}: interrupted (SIG$1); what it had started is ended" >&2
    exit "$2"
}
trap 'ends_now HUP 129' HUP
trap 'ends_now INT 130' INT
trap 'ends_now QUIT 131' QUIT
trap 'ends_now TERM 143' TERM

{ : <&0; } 2>/dev/null || exec </dev/null # standard input may be closed
# <&0: else the standard input of a background job is /dev/null
(trap - HUP INT QUIT TERM && ENDS_WITH="$ENDS_WITH $ends_mark" exec bash "$0" "$@") <&0 &
ends_second=$!
wait "$ends_second"
exit
