package store

import (
	"net/http"
	"sync/atomic"
	"time"
)

// clockOffset measures how far the clock of the API server is ahead of that of this machine, by the Date of its
// responses.
type clockOffset struct{ last atomic.Int64 }

// ClockOffset returns the offset at the last response, negative if the clock of this machine is ahead; 0 within
// the resolution of a second and the time of the request.
func (k *Kube) ClockOffset() time.Duration { return time.Duration(k.offset.last.Load()) }

func (o *clockOffset) wrap(next http.RoundTripper) http.RoundTripper { return measured{next, o} }

type measured struct {
	next   http.RoundTripper
	offset *clockOffset
}

// RoundTrip implements http.RoundTripper.
func (m measured) RoundTrip(r *http.Request) (*http.Response, error) {
	begin := time.Now().Round(0) // by the time of day, which may be set meanwhile
	resp, err := m.next.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	if date, bad := http.ParseTime(resp.Header.Get("Date")); bad == nil {
		m.offset.last.Store(int64(offsetOf(date, begin, time.Now().Round(0))))
	}
	return resp, nil
}

// offsetOf returns the smallest offset with which a response to a request between begin and end has this Date, which
// is cut to a second.
func offsetOf(date, begin, end time.Time) time.Duration {
	if least := date.Sub(end); least > 0 {
		return least
	}
	return min(0, date.Add(time.Second).Sub(begin))
}

// WrappedRoundTripper is for client-go, which looks for the transport.
func (m measured) WrappedRoundTripper() http.RoundTripper { return m.next }
