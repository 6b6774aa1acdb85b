package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// instance is one process of a Spec, from its start to its end.
type instance struct {
	spec    Spec
	id      Identity
	started time.Time
	// ended is closed when the process was waited for; exit is set before that.
	ended chan struct{}
	exit  Exit
}

// launch starts a process of the spec and the one goroutine that waits for it.
func launch(sp *spawner, spec Spec, now func() time.Time) (*instance, error) {
	if err := os.MkdirAll(filepath.Dir(spec.LogPath), 0o700); err != nil {
		return nil, fmt.Errorf("start %s: make log directory: %w", spec.Name, err)
	}
	log, err := os.OpenFile(spec.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", spec.Name, err)
	}
	defer log.Close() // the child has its own descriptor
	info, err := log.Stat()
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", spec.Name, err)
	}
	offset := info.Size()

	cmd := exec.Command(spec.Path, spec.Args...) //nolint:noctx // ended by signal, in order, with a grace period
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := sp.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	inst := &instance{spec: spec, started: now(), ended: make(chan struct{})}
	// The child cannot be reaped before the goroutine below waits for it, so
	// its id is still its own; one that died already has no start time to read.
	inst.id = Identity{PID: cmd.Process.Pid}
	if id, err := Identify(cmd.Process.Pid); err == nil {
		inst.id = id
	}
	go rotateUntil(inst.ended, spec.LogPath)
	go func() {
		defer close(inst.ended)
		err := cmd.Wait()
		at := now()
		inst.exit = Exit{
			PID: inst.id.PID, At: at, Status: exitStatus(cmd, err), Uptime: metav1.Duration{Duration: at.Sub(inst.started)},
			LastLines: Tail(spec.LogPath, offset),
		}
	}()
	return inst, nil
}

func exitStatus(cmd *exec.Cmd, err error) string {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	return cmd.ProcessState.String()
}

// signal sends to the whole process group, so that what the child started goes with it.
func (i *instance) signal(sig syscall.Signal) {
	select {
	case <-i.ended:
		return // its id may be somebody else's by now
	default:
	}
	// An error means that the group is gone already, which is what was wanted.
	_ = syscall.Kill(-i.id.PID, sig)
}

// terminate ends the process: SIGTERM, the grace period, SIGKILL. It returns when it is reaped.
func (i *instance) terminate(grace time.Duration, after func(time.Duration) <-chan time.Time) {
	i.signal(syscall.SIGTERM)
	select {
	case <-i.ended:
	case <-after(grace):
		i.signal(syscall.SIGKILL)
		<-i.ended
	}
}
