package cluster

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	crilogs "k8s.io/cri-client/pkg/logs"
)

// logOptions parses a kubelet log request. It returns nil unless the request follows the running
// container's log.
func logOptions(q url.Values, now time.Time) (*crilogs.LogOptions, error) {
	if q.Get("follow") != "true" || q.Get("previous") == "true" {
		return nil, nil
	}
	o := &crilogs.LogOptions{Follow: true, Timestamp: q.Get("timestamps") == "true"}
	for name, field := range map[string]**int64{"tailLines": &o.TailLines, "limitBytes": &o.LimitBytes} {
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
		o.Since = now.Add(-time.Duration(n) * time.Second)
	}
	if text := q.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("invalid log option sinceTime:  %w", err)
		}
		o.Since = t
	}
	return o, nil
}
