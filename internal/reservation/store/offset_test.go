package store

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestClockOffset(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 3, 0, 0, 500e6, time.UTC)
	for name, c := range map[string]struct {
		ahead, took, want time.Duration
	}{
		"the same":        {0, 10 * time.Millisecond, 0},
		"slow":            {0, 20 * time.Second, 0},
		"hours behind us": {-5 * time.Hour, time.Second, -5*time.Hour + 500*time.Millisecond},
		"hours ahead":     {5 * time.Hour, time.Second, 5*time.Hour - 1500*time.Millisecond},
	} {
		if got := offsetOf(at.Add(c.ahead).Truncate(time.Second), at, at.Add(c.took)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	k := &Kube{offset: &clockOffset{}}
	asked := func(answer roundTrip) error {
		response, err := k.offset.wrap(answer).RoundTrip(&http.Request{})
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	for _, date := range []string{"Sat, 21 Nov 2020 03:00:00 GMT", "", "soon"} { // without one, the last offset stays
		err := asked(func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{"Date": {date}}, Body: http.NoBody}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if k.ClockOffset() > -365*24*time.Hour {
			t.Errorf("Date %q: %s", date, k.ClockOffset())
		}
	}
	gone := errors.New("connection refused")
	if err := asked(func(*http.Request) (*http.Response, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
}
