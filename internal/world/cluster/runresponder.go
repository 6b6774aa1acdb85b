package cluster

import (
	"encoding/json"
	"io"
	"net/http"
)

// responder simulates a script with Python's ThreadingHTTPServer that serves /v1/models like a
// model server, with the model of its environment.
func (w *worker) responder(out io.Writer) (int, error) {
	name := w.env["SERVED_MODEL_NAME"]
	if name == "" {
		return usage(out, "KeyError: 'SERVED_MODEL_NAME'")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/models", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(map[string]any{ // the client disconnected
			"object": "list", "data": []map[string]any{{"id": name, "object": "model"}},
		})
	})
	closed, err := w.listen(w.ctx, mux)
	if err != nil {
		return 1, ignoreDone(w, err)
	}
	defer closed()
	<-w.ctx.Done()
	return 0, nil
}
