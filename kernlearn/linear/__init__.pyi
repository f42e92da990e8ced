from kernlearn.linear.models import LinearSVM as LinearSVM
