package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/proctree"
)

const supervisorName = "supervisor"

// SpawnOptions configure the process of a lab.
type SpawnOptions struct {
	// Name and Dir identify the lab; an empty Dir is the default directory of the name.
	Name, Dir string
	// Owned stops the lab when this process ends or closes the Owner.
	Owned bool
	// OwnerFile, if set, stops the lab at its EOF. It replaces the pipe of Owned.
	OwnerFile *os.File
	// Command precedes the flags --name, --dir and --owner-fd; the default is this program's "lab
	// supervise".
	Command []string
	Args    []string
	// Env extends this process's environment.
	Env []string
}

// Owner keeps an owned lab running until Close.
type Owner struct{ pipe *os.File }

// Close lets the lab stop.
func (o *Owner) Close() error {
	if o == nil || o.pipe == nil {
		return nil
	}
	return o.pipe.Close()
}

// Spawn runs a lab in a process and session of its own, so that terminal signals and the end of
// this process do not reach it. It returns when the lab responds; use WaitReady to wait for
// readiness. The Owner is nil unless Owned.
func Spawn(ctx context.Context, opts SpawnOptions) (*Handle, *Owner, error) {
	opts.Name = cmp.Or(opts.Name, DefaultName)
	if err := CheckName(opts.Name); err != nil {
		return nil, nil, err
	}
	if opts.Dir == "" {
		dir, err := DirOf(opts.Name)
		if err != nil {
			return nil, nil, err
		}
		opts.Dir = dir
	}
	if h, err := AttachDir(ctx, opts.Name, opts.Dir); err == nil {
		return nil, nil, fmt.Errorf("start lab %s: %w (process %d)", opts.Name, ErrRunning, h.Supervisor.PID)
	} else if !errors.Is(err, ErrNotRunning) {
		return nil, nil, fmt.Errorf("start lab %s: %w", opts.Name, err)
	}
	logged := logSize(opts.Dir)
	cmd, owner, closeFiles, err := supervisorCommand(opts)
	if err != nil {
		return nil, nil, err
	}
	err = cmd.Start()
	closeFiles()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start lab %s: %w", opts.Name, err), owner.Close())
	}
	exited := make(chan struct{})
	var exitErr error
	go func() { defer close(exited); exitErr = cmd.Wait() }()

	h := &Handle{Name: opts.Name, Dir: opts.Dir, client: controlClient(opts.Dir), exited: exited, logged: logged}
	waitCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-exited:
			cancel(fmt.Errorf("the process ended: %w", errors.Join(exitErr, errEnded)))
		case <-waitCtx.Done():
		}
	}()
	err = poll.Until(waitCtx, pollInterval, "the lab's process to answer", func(ctx context.Context) error {
		s, err := readState(opts.Dir)
		if err != nil {
			return err
		}
		if s.Supervisor.PID != cmd.Process.Pid {
			return fmt.Errorf("the state file names process %d, want %d", s.Supervisor.PID, cmd.Process.Pid)
		}
		h.Supervisor, h.id = s.Supervisor, s.ID
		_, err = h.Status(ctx)
		return err
	})
	if err == nil {
		return h, owner, nil
	}
	if h.overtaken() {
		err = ErrRunning // another process started it first
	} else {
		err = fmt.Errorf("%w%s", err, h.supervisorLog())
	}
	return nil, nil, errors.Join(fmt.Errorf("start lab %s: %w", opts.Name, err), owner.Close(), h.abort(ctx, cmd.Process))
}

// overtaken reports whether another process than the spawned one runs a lab in the directory.
func (h *Handle) overtaken() bool {
	select {
	case <-h.exited:
	default:
		return false
	}
	lock, err := lockDir(h.Dir)
	if err != nil {
		return errors.Is(err, ErrRunning)
	}
	_ = lock.Close()
	return false
}

// abort stops the spawned process and cleans up after it. A lab of another process is not
// affected.
func (h *Handle) abort(ctx context.Context, p *os.Process) error {
	_ = p.Signal(syscall.SIGTERM) // an error means that it has ended
	stopped := time.NewTimer(stopTimeout)
	defer stopped.Stop()
	select {
	case <-h.exited:
	case <-stopped.C:
		_ = p.Kill() // its children die with it
		<-h.exited
	}
	if h.id == "" {
		return nil // it wrote no state
	}
	return h.Down(context.WithoutCancel(ctx))
}

// supervisorCommand returns the supervisor's command and a function that closes its files in this
// process.
func supervisorCommand(opts SpawnOptions) (cmd *exec.Cmd, owner *Owner, closeFiles func(), err error) {
	argv := opts.Command
	if len(argv) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, nil, nil, fmt.Errorf("start lab %s: %w", opts.Name, err)
		}
		argv = []string{self, "lab", "supervise"}
	}
	argv = append(append([]string(nil), argv...), "--name="+opts.Name, "--dir="+opts.Dir)
	if err := ownDir(opts.Dir); err != nil {
		return nil, nil, nil, fmt.Errorf("start lab %s: %w", opts.Name, err)
	}
	logPath := LogPathIn(opts.Dir, supervisorName)
	if err := os.MkdirAll(filepath.Dir(logPath), 0o700); err != nil {
		return nil, nil, nil, fmt.Errorf("start lab %s: %w", opts.Name, err)
	}
	// Appended: a second start must not erase the log of the running lab.
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("start lab %s: %w", opts.Name, err)
	}
	files := []*os.File{log}
	var extra []*os.File
	if opts.Owned {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, nil, nil, errors.Join(fmt.Errorf("start lab %s: %w", opts.Name, err), log.Close())
		}
		owner, extra, files = &Owner{pipe: write}, []*os.File{read}, append(files, read)
	} else if opts.OwnerFile != nil {
		extra = []*os.File{opts.OwnerFile}
	}
	if len(extra) > 0 {
		const firstExtraFD = 3
		argv = append(argv, "--owner-fd="+strconv.Itoa(firstExtraFD))
	}
	argv = append(argv, opts.Args...)
	cmd = exec.Command(argv[0], argv[1:]...) //nolint:noctx // outlives the context and this process
	cmd.Env = append(os.Environ(), opts.Env...)
	if !opts.Owned && opts.OwnerFile == nil {
		cmd.Env = append(cmd.Env, proctree.Outlives)
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, owner, func() {
		for _, f := range files {
			_ = f.Close() // the child has a copy
		}
	}, nil
}

func alive(id process.Identity) bool { return id.PID != 0 && id.Alive() }

// logSize is the size of the supervisor's log, of earlier labs in the directory.
func logSize(dir string) int64 {
	info, err := os.Stat(LogPathIn(dir, supervisorName))
	if err != nil {
		return 0
	}
	return info.Size()
}

// OwnerPipe opens the inherited file descriptor of the owner's pipe and hides it from child
// processes.
func OwnerPipe(fd int) io.Reader {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "owner")
}
