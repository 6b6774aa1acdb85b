package gateway

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/firstlight/firstlight/internal/world"
)

// places maps Services to addresses; a Service without addresses is not ready.
type places map[string][]string

func (p places) find(_, service string, _ int32) ([]string, error) {
	found, ok := p[service]
	switch {
	case !ok:
		return nil, errNoService
	case len(found) == 0:
		return nil, errNotReady
	}
	return found, nil
}

func reference(name string, weight int32) gwv1.HTTPBackendRef {
	var ref gwv1.HTTPBackendRef
	ref.Name, ref.Port, ref.Weight = gwv1.ObjectName(name), new(int32(80)), &weight
	return ref
}

// gateway serves a table with two servers and a backend that is not ready.
func gateway(t *testing.T, entries ...entry) (*proxy, string) {
	t.Helper()
	where := places{"idle": nil}
	for _, name := range []string{"a", "b"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, r.URL.Path) }))
		t.Cleanup(s.Close)
		where[name] = []string{strings.TrimPrefix(s.URL, "http://")}
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p := newProxy(where, transport, slog.New(slog.DiscardHandler))
	served := table(entries)
	order(served)
	p.table.Store(&served)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL
}

func ask(t *testing.T, url, header string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		req.Header.Set("OpenAI-Project", header)
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(raw))
}

func TestProxy(t *testing.T) {
	t.Parallel()
	var elsewhere gwv1.HTTPBackendRef
	elsewhere.Name, elsewhere.Port, elsewhere.Namespace = "a", new(int32(80)), new(gwv1.Namespace("other"))
	lead := func(path string, refs ...gwv1.HTTPBackendRef) entry {
		return entry{path: path, rule: ruleOf(path, "ns", refs)}
	}
	to := lead("/split", reference("b", 1))
	to.headers = map[string]string{"Openai-Project": "b"}
	p, url := gateway(t, lead("/split", reference("a", 3), reference("b", 1)), to,
		lead("/gone", reference("nobody", 1)), lead("/idle", reference("idle", 1)), lead("/nothing"),
		lead("/zero", reference("a", 0)), lead("/elsewhere", elsewhere))
	for path, want := range map[string]int{
		"/none": 404, "/gone": 500, "/idle": 503, "/nothing": 500, "/zero": 500, "/elsewhere": 500, "/split/x": 200,
	} {
		if got, body := ask(t, url+path, ""); got != want {
			t.Errorf("%s: %d %s, want %d", path, got, body, want)
		}
	}
	count := func(header string) (a, b int) {
		for range 40 {
			switch _, body := ask(t, url+"/split/v1", header); body {
			case "a/split/v1":
				a++
			case "b/split/v1":
				b++
			default:
				t.Fatal(body)
			}
		}
		return a, b
	}
	if a, b := count(""); a != 30 || b != 10 {
		t.Errorf("%d to %d", a, b)
	}
	if a, b := count("b"); a != 0 || b != 40 {
		t.Errorf("%d to %d by header", a, b)
	}
	p.faults.Store(&world.Gateway{IgnoresWeights: true})
	if a, b := count(""); a != 40 || b != 0 {
		t.Errorf("%d to %d without weights", a, b)
	}
	p.faults.Store(&world.Gateway{IgnoresHeaders: true})
	if a, b := count("b"); a != 30 || b != 10 {
		t.Errorf("%d to %d without headers", a, b)
	}
}

// Two listeners with the same port have different addresses, and a closed one is free.
func TestListeners(t *testing.T) {
	t.Parallel()
	all, err := hosts("127.211.17.2")
	if err != nil {
		t.Fatal(err)
	}
	serve := func() *proxy { return newProxy(places{}, http.DefaultTransport, slog.New(slog.DiscardHandler)) }
	first, err := open(t.Context(), all, []int32{18080, 18081}, serve)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	second, err := open(t.Context(), all, []int32{18081}, serve)
	if err != nil {
		t.Fatal(err)
	}
	if first.host != "127.211.17.253" || second.host != "127.211.17.252" {
		t.Errorf("%s and %s", first.host, second.host)
	}
	if code, _ := ask(t, "http://"+second.host+":18081/", ""); code != http.StatusNotFound {
		t.Error(code)
	}
	second.close()
	again, err := openAt(t.Context(), second.host, []int32{18081}, serve)
	if err != nil {
		t.Fatal(err)
	}
	again.close()
	if _, err := open(t.Context(), []string{first.host}, []int32{18081}, serve); err == nil {
		t.Error("a port that is taken was opened")
	}
	if _, err := hosts("10.0.0.1"); err == nil {
		t.Error("an address outside loopback is accepted")
	}
}
