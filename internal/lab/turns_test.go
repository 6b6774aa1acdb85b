package lab

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Each connection goes to the next address for all its requests.
func TestTurns(t *testing.T) {
	t.Parallel()
	var addresses []string
	for _, name := range []string{"a", "b"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, name) //nolint:errcheck // a test server
		}))
		t.Cleanup(server.Close)
		addresses = append(addresses, strings.TrimPrefix(server.URL, "http://"))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shared := takeTurns(l, addresses...)
	client := &http.Client{Transport: &http.Transport{}}
	get := func() string {
		t.Helper()
		resp, err := client.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	var got []string
	for range 3 {
		got = append(got, get(), get())
		client.CloseIdleConnections()
	}
	if want := []string{"a", "a", "b", "b", "a", "a"}; !slices.Equal(got, want) {
		t.Errorf("responses of %v, want %v", got, want)
	}
	get()
	shared.close()
	if resp, err := client.Get("http://" + l.Addr().String()); err == nil {
		_ = resp.Body.Close()
		t.Error("a closed address responds")
	}
	var none *turns
	none.close()
}
