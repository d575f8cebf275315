run pytest.tile
run --tests pytest_plain.tile
run pytest_plain.tile
run --tests --target mi300x pytest_plain.tile
