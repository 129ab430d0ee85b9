#!/usr/bin/env bash
# bench/report by tests/report.py, with a Python that has matplotlib; and what ./build.sh report says.
. "$(dirname "$0")/tap.bash"
python=
for candidate in python3 build/report-python/bin/python; do
    have "$candidate" && "$candidate" -c 'import matplotlib' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip_all "the report" "matplotlib is not installed (./build.sh report installs it)"
export PYTHONDONTWRITEBYTECODE=1
exec "$python" tests/report.py "$@"
