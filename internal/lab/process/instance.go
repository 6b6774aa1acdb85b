package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// instance is one process of a Spec.
type instance struct {
	id      Identity
	started time.Time
	// ended is closed after exit is set.
	ended chan struct{}
	exit  Exit
}

// launch starts a process and the goroutine that waits for it.
func launch(sp *spawner, spec Spec, now func() time.Time) (*instance, error) {
	if err := os.MkdirAll(filepath.Dir(spec.LogPath), 0o700); err != nil {
		return nil, fmt.Errorf("start %s: make log directory: %w", spec.Name, err)
	}
	log, err := os.OpenFile(spec.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", spec.Name, err)
	}
	defer log.Close() // the child has a copy
	info, err := log.Stat()
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", spec.Name, err)
	}
	offset := info.Size()

	cmd := exec.Command(spec.Path, spec.Args...) //nolint:noctx // ended by signal with a grace period
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if spec.Root != "" {
		if err := confine(cmd, spec.Root); err != nil {
			return nil, fmt.Errorf("start %s: %w", spec.Name, err)
		}
	}
	if err := sp.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, confined(spec.Root, err))
	}
	inst := &instance{started: now(), ended: make(chan struct{})}
	// The child is not reaped before the goroutine below waits for it, so the PID is not reused. A
	// child that has already exited has no start time.
	inst.id = Identity{PID: cmd.Process.Pid}
	if id, err := Identify(cmd.Process.Pid); err == nil {
		inst.id = id
	}
	go RotateLog(inst.ended, spec.LogPath)
	go func() {
		defer close(inst.ended)
		// The group is killed before the child is reaped, while its number cannot be reused.
		awaitExit(inst.id.PID)
		_ = syscall.Kill(-inst.id.PID, syscall.SIGKILL) // an error means that the group has ended
		err := cmd.Wait()
		at := now()
		inst.exit = Exit{
			PID: inst.id.PID, At: at, Status: exitStatus(cmd, err), Uptime: metav1.Duration{Duration: at.Sub(inst.started)},
			LastLines: Tail(spec.LogPath, offset),
		}
	}()
	return inst, nil
}

// awaitExit returns when a child has exited and leaves it unreaped.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return // an error is reported by Wait
		}
	}
}

func exitStatus(cmd *exec.Cmd, err error) string {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	return cmd.ProcessState.String()
}

// signal signals the process group, which includes the child's children.
func (i *instance) signal(sig syscall.Signal) {
	select {
	case <-i.ended:
		return // the PID may be reused
	default:
	}
	// An error means that the group has already ended.
	_ = syscall.Kill(-i.id.PID, sig)
}

// terminate sends SIGTERM, after the grace period SIGKILL, and returns when the process is reaped.
func (i *instance) terminate(grace time.Duration, after func(time.Duration) <-chan time.Time) {
	i.signal(syscall.SIGTERM)
	select {
	case <-i.ended:
	case <-after(grace):
		i.signal(syscall.SIGKILL)
		<-i.ended
	}
}
