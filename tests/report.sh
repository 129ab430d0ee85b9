#!/usr/bin/env bash
# bench/report by tests/report.py, with a Python that has matplotlib; and what ./build.sh report says.
set -u
cd "$(dirname "$0")/.." || exit 1
python=
for candidate in python3 build/report-python/bin/python; do
    command -v "$candidate" >/dev/null && "$candidate" -c 'import matplotlib' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
    echo "ok 1 - the report # SKIP matplotlib is not installed (./build.sh report installs it)"
    echo "1..1"
    exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$python" tests/report.py "$@"
