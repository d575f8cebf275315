run emitters.py
run --target mi300x emitters.py
# 64 lanes are no warp of an H100
run emitters_wave.py
