package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Regression: Kubeflow Trainer exited three times without a message because other labs used all
// 128 instances.
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
		t.Errorf("%d instances of this process, want %d", got, len(fds))
	}
	if got := inotifyUsed(own, os.Getuid()+1); got != 0 {
		t.Errorf("%d instances of another user", got)
	}
}
