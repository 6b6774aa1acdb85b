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

type ensureRequest struct {
	With []string `json:"with"`
}

// ensureLine is one line of the response: an event or the result.
type ensureLine struct {
	Event *Event `json:"event,omitempty"`
	// Done marks the last line. Error is empty on success.
	Done  bool   `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

const maxRequest = 1 << 20

// serveEnsure adds extras and streams events. It cancels when the client disconnects.
func (s *supervisor) serveEnsure(w http.ResponseWriter, r *http.Request) {
	var req ensureRequest
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		http.Error(w, "invalid request:  "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := component.CheckExtras(req.With); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	sent := s.events.count()
	result := make(chan error, 1)
	go func() { result <- s.lab.Ensure(ctx, req.With) }()

	w.Header().Set("Content-Type", "application/x-ndjson")
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	send := func() <-chan struct{} {
		events, more, done := s.events.from(sent)
		for i := range events {
			_ = enc.Encode(ensureLine{Event: &events[i]}) // a disconnect ends the request's context
		}
		sent += len(events)
		_ = flush.Flush()
		if done {
			return nil
		}
		return more
	}
	ending := s.ending
	for {
		select {
		case <-send():
		case <-ending:
			cancel(errAskedToStop)
			ending = nil
		case err := <-result:
			send()
			last := ensureLine{Done: true}
			if err != nil {
				last.Error = err.Error()
			}
			_ = enc.Encode(last)
			return
		}
	}
}

// Ensure adds extras to the lab and returns when they are ready. It calls events, which may be
// nil, for each event.
func (h *Handle) Ensure(ctx context.Context, extras []string, events func(Event)) error {
	if len(extras) == 0 {
		return nil
	}
	body, err := json.Marshal(ensureRequest{With: extras})
	if err != nil {
		return fmt.Errorf("request to lab %s: %w", h.Name, err)
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
			return fmt.Errorf("invalid response of lab %s: %w", h.Name, err)
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
		return fmt.Errorf("request to lab %s: %w", h.Name, context.Cause(ctx))
	}
	return fmt.Errorf("lab %s: %w", h.Name, errors.Join(lines.Err(), errStoppedEarly))
}

var errStoppedEarly = errors.New("the lab stopped before it responded")
