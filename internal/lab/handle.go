package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// ErrNotRunning is returned for a lab that is not up, ErrDied (which wraps it) for one whose
// supervisor died and left processes or files.
var (
	ErrNotRunning = errors.New("lab is not running")
	ErrDied       = fmt.Errorf("%w: its supervisor died (clean up with: firstlight lab down)", ErrNotRunning)
)

// Handle controls a lab that runs in another process.
type Handle struct {
	Name, Dir string
	// Supervisor is the process that runs the lab.
	Supervisor process.Identity

	// id is the lab's ID. A later lab in the same directory has another one.
	id     string
	client *http.Client
	// exited is closed when a lab that this process spawned has ended; otherwise nil.
	exited <-chan struct{}
	// logged is the size of the supervisor's log before this process spawned the lab.
	logged int64
}

// Attach returns a Handle for the named lab.
func Attach(ctx context.Context, name string) (*Handle, error) {
	dir, err := DirOf(name)
	if err != nil {
		return nil, err
	}
	return AttachDir(ctx, name, dir)
}

// AttachDir returns a Handle for the lab in dir.
func AttachDir(ctx context.Context, name, dir string) (*Handle, error) {
	s, err := readStateOf(name, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("lab %s: %w (start it with: firstlight lab up)", name, ErrNotRunning)
	}
	if err != nil {
		return nil, err
	}
	h := s.handle(dir)
	if !alive(s.Supervisor) {
		return nil, fmt.Errorf("lab %s: %w", name, ErrDied)
	}
	if _, err := h.Status(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (s stateFile) handle(dir string) *Handle {
	return &Handle{Name: s.Name, Dir: dir, Supervisor: s.Supervisor, id: s.ID, client: controlClient(dir)}
}

// Status returns the lab's current status.
func (h *Handle) Status(ctx context.Context) (Status, error) {
	ctx, cancel := answerWithin(ctx)
	defer cancel()
	resp, err := h.Do(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return Status{}, err
	}
	defer resp.Body.Close()
	var st Status
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil {
		return Status{}, fmt.Errorf("invalid status of lab %s: %w", h.Name, err)
	}
	return st, nil
}

// Do sends a request to the lab's control socket; paths below /world/ reach the world. A status
// other than 2xx is an error with the response text.
func (h *Handle) Do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, body)
	if err != nil {
		return nil, fmt.Errorf("request to lab %s: %w", h.Name, err)
	}
	req.Header.Set(idHeader, h.id)
	resp, err := h.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("request to lab %s: %w", h.Name, err)
	}
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // best effort
		_ = resp.Body.Close()
		return nil, fmt.Errorf("request to lab %s: %s %s: %s: %s", h.Name, method, path, resp.Status, text)
	}
	return resp, nil
}

// Events calls f for each event since the lab's start and then for each new event until f returns
// false, the lab stops (nil) or ctx ends.
func (h *Handle) Events(ctx context.Context, f func(Event) bool) error {
	resp, err := h.Do(ctx, http.MethodGet, "/events", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("read events of lab %s: %w", h.Name, err)
		}
		if !f(e) {
			return nil
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("read events of lab %s: %w", h.Name, err)
	}
	return ctx.Err()
}

// WaitReady waits until the lab is ready and calls f, which may be nil, for each event.
func (h *Handle) WaitReady(ctx context.Context, f func(Event)) error {
	result := errEnded
	err := h.Events(ctx, func(e Event) bool {
		if f != nil {
			f(e)
		}
		switch e.Kind {
		case KindReady:
			result = nil
			return false
		case KindFailed:
			result = errors.New(e.Message)
			return false
		default:
			return true
		}
	})
	if ctx.Err() != nil {
		return fmt.Errorf("wait for lab %s: %w", h.Name, context.Cause(ctx))
	}
	if result == nil {
		return nil
	}
	h.awaitExit(ctx)
	return fmt.Errorf("start lab %s: %w%s", h.Name, errors.Join(err, result), h.supervisorLog())
}

var errEnded = errors.New("the lab stopped before it was ready")

// exitTimeout bounds the wait for a process that no longer responds to end.
const exitTimeout = 10 * time.Second

// awaitExit waits for the lab's process to end: it stops responding before it logs the reason.
func (h *Handle) awaitExit(ctx context.Context) {
	if h.exited == nil {
		return // not spawned by this process
	}
	ctx, cancel := context.WithTimeout(ctx, exitTimeout)
	defer cancel()
	select {
	case <-h.exited:
	case <-ctx.Done():
	}
}

// supervisorLog returns the last log lines of the lab's process for an error.
func (h *Handle) supervisorLog() string {
	path := LogPathIn(h.Dir, supervisorName)
	lines := process.Tail(path, h.logged)
	if len(lines) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("; last lines of " + path + ":")
	for _, l := range lines {
		text.WriteString("\n  " + l)
	}
	return text.String()
}

// Kill sends SIGKILL to one component's process and returns its identity. The lab restarts the
// component.
func (h *Handle) Kill(ctx context.Context, component string) (process.Identity, error) {
	st, err := h.Status(ctx)
	if err != nil {
		return process.Identity{}, err
	}
	for _, c := range st.Components {
		if c.Name != component {
			continue
		}
		if c.Identity.PID == 0 {
			return c.Identity, fmt.Errorf("kill %s of lab %s: it is not running", component, h.Name)
		}
		if err := process.Kill([]process.Identity{c.Identity}); err != nil {
			return c.Identity, fmt.Errorf("kill %s of lab %s: %w", component, h.Name, err)
		}
		return c.Identity, nil
	}
	return process.Identity{}, fmt.Errorf("kill %s of lab %s: unknown component", component, h.Name)
}
