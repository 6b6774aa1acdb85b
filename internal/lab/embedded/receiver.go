package embedded

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// receiver accepts Alertmanager's webhooks for the on-call role.
type receiver struct {
	server *http.Server
	ended  chan error
}

func serveReceiver(listener net.Listener) *receiver {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	r := &receiver{
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	go func() { r.ended <- r.server.Serve(listener) }()
	return r
}

func (r *receiver) close() error {
	err := r.server.Close()
	if served := <-r.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
