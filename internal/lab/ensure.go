package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// ensureRequest asks a lab to have extras.
type ensureRequest struct {
	With []string `json:"with"`
}

// ensureLine is a line of the answer: an event, or the end.
type ensureLine struct {
	Event *Event `json:"event,omitempty"`
	// Done is the last line; Error says why the lab does not have them.
	Done  bool   `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// maxRequest bounds a request's body.
const maxRequest = 1 << 20

// serveEnsure makes the lab have extras, telling what happens meanwhile. Whoever
// asked and went away wants them no more.
func (s *supervisor) serveEnsure(w http.ResponseWriter, r *http.Request) {
	var req ensureRequest
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := component.CheckExtras(req.With); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	told := s.events.count()
	result := make(chan error, 1)
	go func() { result <- s.lab.Ensure(ctx, req.With) }()

	w.Header().Set("Content-Type", "application/x-ndjson")
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	tell := func() <-chan struct{} {
		events, more, done := s.events.from(told)
		for i := range events {
			_ = enc.Encode(ensureLine{Event: &events[i]}) // the request's context tells who went away
		}
		told += len(events)
		_ = flush.Flush() // likewise
		if done {
			return nil
		}
		return more
	}
	ending := s.ending
	for {
		select {
		case <-tell():
		case <-ending:
			cancel(errAskedToStop)
			ending = nil
		case err := <-result:
			tell()
			last := ensureLine{Done: true}
			if err != nil {
				last.Error = err.Error()
			}
			_ = enc.Encode(last) // likewise
			return
		}
	}
}

// Ensure makes the lab have these extras, and returns when they are ready. It
// tells events as they happen; events may be nil.
func (h *Handle) Ensure(ctx context.Context, extras []string, events func(Event)) error {
	if len(extras) == 0 {
		return nil
	}
	body, err := json.Marshal(ensureRequest{With: extras})
	if err != nil {
		return fmt.Errorf("ask lab %s: %w", h.Name, err)
	}
	resp, err := h.Do(ctx, http.MethodPost, "/ensure", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l ensureLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("read the answer of lab %s: %w", h.Name, err)
		}
		switch {
		case l.Done && l.Error != "":
			return fmt.Errorf("lab %s: %s", h.Name, l.Error)
		case l.Done:
			return nil
		case l.Event != nil && events != nil:
			events(*l.Event)
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("ask lab %s: %w", h.Name, context.Cause(ctx))
	}
	return fmt.Errorf("lab %s: %w", h.Name, errors.Join(lines.Err(), errGone))
}

// errGone says that a lab ended while it was asked for something.
var errGone = errors.New("it ended before it had answered")
