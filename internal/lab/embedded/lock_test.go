package embedded

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// A request that waits for another change of faults ends with its client.
func TestRequestsDoNotOutliveTheirClient(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"GET /faults", "POST /faults", "DELETE /faults/a", "DELETE /faults"} {
		synctest.Test(t, func(t *testing.T) {
			e := &embedded{mu: newLock()}
			e.mu.Lock() // a change is in progress
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			method, path, _ := strings.Cut(request, " ")
			w, ended := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(ended)
				e.routes().ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(`{"kind":"half-gang"}`)))
			}()
			select {
			case <-ended:
				if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "another change of its faults: context deadline exceeded") {
					t.Errorf("%s: %d %s", request, w.Code, w.Body)
				}
				e.mu.Unlock()
			case <-time.After(2 * time.Minute):
				t.Errorf("%s waits for the other change after its client's end", request)
				e.mu.Unlock()
				<-ended
			}
		})
	}
}

// A change whose client has gone is not made.
func TestChangeOfAGoneClientIsNotMade(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("client closed the connection")
	cancel(gone)
	w, err := world.New(world.DefaultSpec(2))
	if err != nil {
		t.Fatal(err)
	}
	e := &embedded{mu: newLock(), world: w}
	err = e.change(ctx, func() error { t.Error("the faults were changed"); return nil })
	if !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
