package lab

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// serveControl serves a control socket until the test ends and returns its directory.
func serveControl(t *testing.T, id string, handler http.Handler, timeout time.Duration) string {
	t.Helper()
	dir := t.TempDir()
	listener, err := listenControl(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := controlServer(handler, id)
	server.Handler = bounded(forLab(handler, id), timeout)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); <-served })
	return dir
}

func dialControl(t *testing.T, dir string) net.Conn {
	t.Helper()
	var conn net.Conn
	err := throughDir(dir, func(short string) (err error) {
		conn, err = net.Dial("unix", short)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A client that stops in the middle of its request is disconnected.
func TestSlowRequestIsEnded(t *testing.T) {
	t.Parallel()
	called := false
	dir := serveControl(t, "x", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }), 100*time.Millisecond)
	conn := dialControl(t, dir)
	if _, err := io.WriteString(conn, "POST /ensure HTTP/1.1\r\nHost: lab\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") || called {
		t.Errorf("answer %q, %v, handler called: %t", answer, err, called)
	}
	if s := controlServer(http.NotFoundHandler(), "x"); s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 {
		t.Errorf("missing limits: %+v", s)
	}
}

// A client that does not read its events is disconnected.
func TestSlowReaderIsEnded(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	dir := serveControl(t, "x", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		part := make([]byte, 1<<16)
		for {
			if _, err := w.Write(part); err != nil {
				ended <- err
				return
			}
		}
	}), 100*time.Millisecond)
	conn := dialControl(t, dir)
	if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: lab\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the handler still writes")
	}
}

// A request may take longer than its transfer, and a stream longer than its parts.
func TestLongRequestIsNotEnded(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	dir := serveControl(t, "x", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			select {
			case <-time.After(2 * limit):
			case <-r.Context().Done():
				return
			}
			_, _ = io.WriteString(w, "part\n")
			_ = http.NewResponseController(w).Flush()
		}
	}), limit)
	resp, err := stateFile{ID: "x", Name: "x"}.handle(dir).Do(t.Context(), http.MethodPost, "/world/faults", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "part\npart\npart\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// roundTrip is a transport that never answers.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A lab that does not answer does not block its clients.
func TestSilentLabIsAnError(t *testing.T) {
	t.Parallel()
	silent := errors.New("silent")
	h := &Handle{Name: "x", Supervisor: process.Identity{PID: 1}}
	h.client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if _, bounded := r.Context().Deadline(); !bounded {
			t.Errorf("%s has no deadline", r.URL.Path)
		}
		return nil, silent
	})}
	if _, err := h.Status(context.WithoutCancel(t.Context())); !errors.Is(err, silent) {
		t.Error(err)
	}
	if err := h.askToStop(context.WithoutCancel(t.Context())); !errors.Is(err, silent) {
		t.Error(err)
	}
}
