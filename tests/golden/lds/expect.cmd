# 512 x 4 bytes are as many as the file allows on an H100, 1,024 x 4 twice that.
lds-report --target mi300x,h100 -q expect.tile -D N=512
lds-report --target mi300x,h100 -q expect.tile -D N=1024
