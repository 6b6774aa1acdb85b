package lab

import (
	"io"
	"os"
	"syscall"
)

// OwnerPipe is the end of the owner's pipe that this process was given as a
// file descriptor. No child of this process gets it.
func OwnerPipe(fd int) io.Reader {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "owner")
}
