package cluster

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// parseLogOptions parses a kubelet log request. It returns nil for the log of a previous container.
func parseLogOptions(q url.Values, now time.Time) (*logOptions, error) {
	if q.Get("previous") == "true" {
		return nil, nil
	}
	o := &logOptions{follow: q.Get("follow") == "true", timestamps: q.Get("timestamps") == "true"}
	for name, field := range map[string]**int64{"tailLines": &o.tail, "limitBytes": &o.limit} {
		if text := q.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("invalid log option %s=%q: must be a count", name, text)
			}
			*field = &n
		}
	}
	if text := q.Get("sinceSeconds"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("invalid log option sinceSeconds=%q: must be a positive number", text)
		}
		o.since = now.Add(-time.Duration(n) * time.Second)
	}
	if text := q.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("invalid log option sinceTime:  %w", err)
		}
		o.since = t
	}
	return o, nil
}
