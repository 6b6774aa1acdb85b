package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	goruntime "runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// firstlightProgram is the name of firstlight's own program, which pods of its image run.
const firstlightProgram = "firstlight"

// notExecuted is a container's exit code when its program cannot be started.
const notExecuted = 127

const (
	// evictAfter is the time until an evicted pod is killed.
	evictAfter = 500 * time.Millisecond
	// killed is the exit code after SIGKILL.
	killed = 137
	// starveEvery is the interval at which a starved process stops.
	starveEvery = 300 * time.Millisecond
)

// firstlight runs the real program of the pod as a process of this machine, with the pod's arguments
// and environment, in the pod network.
func (w *worker) firstlight(out io.Writer) (int, error) {
	faults := w.runtime.world.Recent().Inference
	if w.runtime.program == nil || faults.LoadImageMissing {
		return 0, w.notPulled()
	}
	path, err := w.runtime.program(w.ctx)
	if err != nil {
		return 1, err
	}
	network, err := w.joinNetwork()
	if err != nil {
		return 1, err
	}
	defer network.close()
	argv := slices.Concat(w.container.Command, w.container.Args)
	cmd := exec.Command(path, argv[1:]...) //nolint:noctx // killed with its process group
	cmd.Env = []string{"HTTP_PROXY=socks5h://" + network.address()}
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = ownGroup()
	started := time.Now()
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	if faults.LoadEvicted {
		ctx, cancel = context.WithTimeout(ctx, evictAfter)
		defer cancel()
	}
	exit, err := runProcess(ctx, cmd, faults.LoadStarved)
	if err != nil {
		_, err = fmt.Fprintf(out, "exec %s: %v\n", path, err)
		return notExecuted, err
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return exit, nil
	}
	status := ended(w.pod, killed, 0, started, time.Now())
	status.Reason = "Evicted"
	status.Message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi."
	w.end(w.attempt()) // its followed log ends with the container, before the pod is deleted
	err = patchStatus(w.ctx, w.runtime.client, w.pod, status)
	<-w.ctx.Done()
	return 0, ignoreDone(w, err)
}

// notPulled reports that the image cannot be pulled, until the pod is deleted.
func (w *worker) notPulled() error {
	err := setHold(w.ctx, w.runtime.client, w.pod, `"`+holdCreating+`"`)
	if err == nil {
		err = patchStatus(w.ctx, w.runtime.client, w.pod, unpulled(w.pod))
	}
	<-w.ctx.Done()
	return ignoreDone(w, err)
}

// ownGroup makes a process the leader of a group that ends with this process.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// runProcess runs a process to its end, or kills its group when ctx ends. A starved process does not
// run for that long, again and again.
func runProcess(ctx context.Context, cmd *exec.Cmd, starved time.Duration) (exit int, err error) {
	var done sync.WaitGroup
	defer done.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Pdeathsig is that of the thread which starts the process.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	group := -cmd.Process.Pid
	reaped := make(chan struct{})
	done.Go(func() {
		if starved > 0 {
			starve(ctx, group, starved)
		}
		<-ctx.Done()
		select {
		case <-reaped: // its number may be another process's
		default:
			_ = syscall.Kill(group, syscall.SIGKILL) // an error means that it has ended
		}
	})
	err = cmd.Wait()
	close(reaped)
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return 0, err
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// starve stops a process group for a while, again and again, until ctx ends.
func starve(ctx context.Context, group int, stopped time.Duration) {
	for sleep(ctx, starveEvery-stopped) == nil {
		_ = syscall.Kill(group, syscall.SIGSTOP)
		err := sleep(ctx, stopped)
		_ = syscall.Kill(group, syscall.SIGCONT)
		if err != nil {
			return
		}
	}
}
