# python.sh - for tests that compare with NumPy: sets $python or skips.
python=${TILESIM_PYTHON-python3}
export PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c 'import numpy, ml_dtypes' 2>/dev/null; then
    case $0 in
    *.tap) echo '1..0 # SKIP no Python with numpy and ml_dtypes'; exit 0 ;;
    *) echo 'no Python with numpy and ml_dtypes'; exit 77 ;;
    esac
fi
