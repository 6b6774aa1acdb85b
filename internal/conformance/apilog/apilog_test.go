package apilog

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/check"
)

type store struct{ kept []check.Observation }

func (s *store) Record(o check.Observation) (check.Observation, error) {
	s.kept = append(s.kept, o)
	return o, nil
}
func (s *store) Progress(string, ...any) {}

func TestCallsAreRecorded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	l := New(nil)
	client, err := rest.HTTPClientFor(l.Wrap(&rest.Config{Host: server.URL, BearerToken: "very-secret"}))
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path string) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(`{"password":"hunter2"}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	send(http.MethodGet, "/api/v1/pods?limit=1")
	send(http.MethodGet, "/api/v1/pods?limit=1")
	send(http.MethodPost, "/api/v1/pods")
	server.Close()
	send(http.MethodGet, "/api/v1/nodes")

	got := l.Calls()
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if c := got[0]; c.Method != http.MethodGet || c.Path != "/api/v1/pods" || c.Query != "limit=1" || c.Status != 200 || c.Times != 2 {
		t.Errorf("%+v", c)
	}
	if c := got[1]; c.Method != http.MethodPost || c.Status != 403 || c.Times != 1 {
		t.Errorf("%+v", c)
	}
	if c := got[2]; c.Status != 0 || c.Err == "" {
		t.Errorf("a call without an answer: %+v", c)
	}
	var s store
	if err := l.Record(&s, "dra_support"); err != nil {
		t.Fatal(err)
	}
	if len(s.kept) != 1 || s.kept[0].Kind != Kind || s.kept[0].Target != "dra_support" {
		t.Fatalf("%+v", s.kept)
	}
	var back []Call
	text, err := json.Marshal(s.kept[0].Figures)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &back); err != nil || len(back) != 3 {
		t.Errorf("%v %s", err, text)
	}
	if strings.Contains(string(text), "secret") || strings.Contains(string(text), "hunter2") {
		t.Errorf("a secret is kept: %s", text)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	l := New(nil)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { l.add(Call{Method: "GET", Path: "/a"}) })
	}
	all.Wait()
	if got := l.Calls(); len(got) != 1 || got[0].Times != 50 {
		t.Errorf("%+v", got)
	}
}
