package lab

import (
	"encoding/json"
	"net/http"
)

// routes is the control socket's API.
func (s *supervisor) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.serveStatus)
	mux.HandleFunc("GET /events", s.serveEvents)
	mux.HandleFunc("POST /ensure", s.serveEnsure)
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		s.stop()
	})
	if s.opts.World != nil {
		mux.Handle("/world/", http.StripPrefix("/world", s.opts.World(s.lab)))
	}
	return mux
}

func (s *supervisor) serveStatus(w http.ResponseWriter, _ *http.Request) {
	st := s.lab.Status()
	st.Owned = s.opts.Owner != nil
	if current := s.current(); current == StateStopping {
		st.State = current
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(st) // the client disconnected
}

// serveEvents writes one event per line until the journal is complete.
func (s *supervisor) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	for n := 0; ; {
		events, more, done := s.events.from(n)
		for _, e := range events {
			if enc.Encode(e) != nil {
				return
			}
		}
		n += len(events)
		if flush.Flush() != nil || done {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}
