# scipy - what upstream's references use of it.
from scipy import linalg
