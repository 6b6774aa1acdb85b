package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Kubeflow Trainer died three times without a word why: its 128 instances were used up
// by other labs.
func TestInotifyUsed(t *testing.T) {
	fds := []int{-1, -1, -1}
	for i := range fds {
		fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Close(fd) }()
		fds[i] = fd
	}
	own := t.TempDir()
	if err := os.Symlink(fmt.Sprintf("/proc/%d", os.Getpid()), filepath.Join(own, "1")); err != nil {
		t.Fatal(err)
	}
	if got := inotifyUsed(own, os.Getuid()); got < len(fds) {
		t.Errorf("%d instances seen of this process, which has opened %d", got, len(fds))
	}
	if got := inotifyUsed(own, os.Getuid()+1); got != 0 {
		t.Errorf("%d instances seen of somebody else", got)
	}
}
