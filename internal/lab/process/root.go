package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// confine gives a command a root directory of its own, with the program in it. Only root may change
// the root directory; other users may in a user namespace of their own, in which they are root. The
// program must be statically linked.
func confine(cmd *exec.Cmd, root string) error {
	name := filepath.Base(cmd.Path)
	if err := link(cmd.Path, filepath.Join(root, name)); err != nil {
		return fmt.Errorf("put the program into its root directory: %w", err)
	}
	cmd.Path, cmd.Dir = "/"+name, "/"
	cmd.SysProcAttr.Chroot = root
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return nil
}

// confined adds the remedy to the error of a start in a root directory of its own.
func confined(root string, err error) error {
	if root == "" || !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return fmt.Errorf("it needs a root directory of its own, and this machine refuses user namespaces: "+
		"allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), run as root, or use the lab's stack minimal: %w", err)
}

// link makes a file available at another path, without a copy where the file system allows it.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700) //nolint:gosec // a program
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
