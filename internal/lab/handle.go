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

// ErrNotRunning says that there is no lab of that name.
var ErrNotRunning = errors.New("no such lab is up")

// Handle reaches a lab that runs in another process.
type Handle struct {
	Name, Dir string
	// Supervisor is the process that runs the lab.
	Supervisor process.Identity

	client *http.Client
	// exited, for a lab that this process spawned, is closed when it ended.
	exited <-chan struct{}
}

// Attach finds the lab of that name.
func Attach(ctx context.Context, name string) (*Handle, error) {
	dir, err := DirOf(name)
	if err != nil {
		return nil, err
	}
	return AttachDir(ctx, name, dir)
}

// AttachDir finds the lab in a directory.
func AttachDir(ctx context.Context, name, dir string) (*Handle, error) {
	s, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("lab %s: %w (start it with: firstlight lab up)", name, ErrNotRunning)
	}
	if err != nil {
		return nil, err
	}
	h := &Handle{Name: name, Dir: dir, Supervisor: s.Supervisor, client: controlClient(dir)}
	if !s.Supervisor.Alive() {
		return nil, fmt.Errorf("lab %s: %w: its supervisor died (clean up with: firstlight lab down)", name, ErrNotRunning)
	}
	if _, err := h.Status(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Status asks how the lab does.
func (h *Handle) Status(ctx context.Context) (Status, error) {
	resp, err := h.Do(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return Status{}, err
	}
	defer resp.Body.Close()
	var st Status
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil {
		return Status{}, fmt.Errorf("read status of lab %s: %w", h.Name, err)
	}
	return st, nil
}

// Do makes a request to the lab's control socket; below /world/ it reaches the
// world. An answer that is not of the 200s is an error with its text.
func (h *Handle) Do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, body)
	if err != nil {
		return nil, fmt.Errorf("ask lab %s: %w", h.Name, err)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask lab %s: %w", h.Name, err)
	}
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what there is of an explanation
		_ = resp.Body.Close()
		return nil, fmt.Errorf("ask lab %s: %s %s: %s: %s", h.Name, method, path, resp.Status, text)
	}
	return resp, nil
}

// Events calls f for every event since the lab's start, and then for each as
// it comes, until f answers false, the lab ends (nil) or ctx does.
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

// WaitReady waits until the lab is ready, telling each event on the way; f may be nil.
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
	h.awaitLastWords(ctx)
	return fmt.Errorf("start lab %s: %w%s", h.Name, errors.Join(err, result), supervisorLog(h.Dir))
}

var errEnded = errors.New("it ended before it was ready")

// lastWords bounds the wait for a process that no longer answers to say why.
const lastWords = 10 * time.Second

// awaitLastWords waits for the end of a lab's process: it stops answering
// before it writes why it ended.
func (h *Handle) awaitLastWords(ctx context.Context) {
	if h.exited == nil {
		return // another process's child
	}
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	select {
	case <-h.exited:
	case <-ctx.Done():
	}
}

// supervisorLog is what the lab's process last wrote, for an error.
func supervisorLog(dir string) string {
	path := LogPathIn(dir, supervisorName)
	lines := process.Tail(path, 0)
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

// Kill kills one component's process, as a machine that fails would, and says which it
// was. The lab starts another in its place.
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
			return c.Identity, fmt.Errorf("kill %s of lab %s: it does not run", component, h.Name)
		}
		if err := process.Kill([]process.Identity{c.Identity}); err != nil {
			return c.Identity, fmt.Errorf("kill %s of lab %s: %w", component, h.Name, err)
		}
		return c.Identity, nil
	}
	return process.Identity{}, fmt.Errorf("kill %s of lab %s: it has no such component", component, h.Name)
}
