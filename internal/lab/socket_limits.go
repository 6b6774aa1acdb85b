package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// idHeader has the ID of the lab that a request is for. A lab rejects requests for another lab:
// an earlier one in the same directory.
const idHeader = "Firstlight-Lab"

// Limits of the control socket. A client that holds a connection or a lab that does not answer
// must not block the other side. There is no limit between the request and the response: a change
// of faults can take minutes.
const (
	// clientTimeout bounds the transfer of a request, and of each part of a response.
	clientTimeout = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	// answerTimeout bounds requests that a lab answers at once. Busy machines are slow.
	answerTimeout = time.Minute
)

// answerWithin bounds a request that a lab answers at once.
func answerWithin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("no response after %s: its supervisor hangs (stop it with: firstlight lab down)", answerTimeout))
}

// controlServer returns the server of the control socket of the lab with this ID.
func controlServer(handler http.Handler, id string) *http.Server {
	return &http.Server{
		Handler:           bounded(forLab(handler, id), clientTimeout),
		ReadHeaderTimeout: clientTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxRequest,
	}
}

// forLab rejects requests for another lab.
func forLab(next http.Handler, id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := r.Header.Get(idHeader); want != "" && want != id {
			http.Error(w, "lab "+want+" has ended: this is "+id, http.StatusGone)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bounded reads the request before it calls next and bounds reads and writes. The server's own
// ReadTimeout would cancel a long request, its WriteTimeout would end an event stream.
func bounded(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limits := http.NewResponseController(w)
		until := func() time.Time { return time.Now().Add(timeout) }
		if err := errors.Join(limits.SetReadDeadline(until()), limits.SetWriteDeadline(until())); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err == nil {
			err = limits.SetReadDeadline(time.Time{})
		}
		if err != nil {
			_ = limits.SetWriteDeadline(until())
			http.Error(w, "invalid request: "+err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(&boundedWriter{ResponseWriter: w, limits: limits, until: until}, r)
		_ = limits.SetWriteDeadline(until()) // for the rest of the response
	})
}

// boundedWriter extends the write deadline at each write.
type boundedWriter struct {
	http.ResponseWriter
	limits *http.ResponseController
	until  func() time.Time
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if err := w.limits.SetWriteDeadline(w.until()); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *boundedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
