package ray

import (
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Paths of the head.
const (
	VersionPath = "/api/version"
	// StatusPath is the status of the autoscaler, as data.
	StatusPath = "/api/cluster_status?format=0"
)

// ParseVersion reads the reply of VersionPath: Ray's version.
func ParseVersion(raw []byte) (string, error) {
	return guard.Parse("version of Ray", func() (string, error) {
		var v struct {
			Ray string `json:"ray_version"`
		}
		if err := guard.JSON(raw, &v); err != nil {
			return "", fmt.Errorf("not a reply of a Ray head: %w", err)
		}
		if v.Ray == "" {
			return "", errors.New("not a reply of a Ray head: ray_version not found")
		}
		return v.Ray, nil
	})
}

// Usage are the GPUs of the cluster as the autoscaler counts them.
type Usage struct {
	// Known: the reply has a report. One of autoscaler v2, or of a head that has just started, has none.
	Known bool    `json:"known"`
	Used  float64 `json:"used"`
	Total float64 `json:"total"`
}

// ParseUsage reads the reply of StatusPath.
func ParseUsage(raw []byte) (Usage, error) {
	return guard.Parse("status of Ray", func() (Usage, error) {
		var r struct {
			Result *bool  `json:"result"`
			Msg    string `json:"msg"`
			Data   struct {
				Status *struct {
					Report *struct {
						Usage map[string][]float64 `json:"usage"`
					} `json:"loadMetricsReport"`
				} `json:"clusterStatus"`
			} `json:"data"`
		}
		if err := guard.JSON(raw, &r); err != nil {
			return Usage{}, fmt.Errorf("not a status of a Ray cluster: %w", err)
		}
		switch {
		case r.Result == nil:
			return Usage{}, errors.New("not a status of a Ray cluster: result not found")
		case !*r.Result:
			return Usage{}, fmt.Errorf("the head cannot tell its status: %s", r.Msg)
		case r.Data.Status == nil || r.Data.Status.Report == nil:
			return Usage{}, nil
		}
		gpus, ok := r.Data.Status.Report.Usage["GPU"]
		if !ok {
			return Usage{}, nil
		}
		if len(gpus) != 2 || gpus[0] < 0 || gpus[1] < gpus[0] {
			return Usage{}, fmt.Errorf("unexpected usage of GPUs %v: want used and total", gpus)
		}
		return Usage{Known: true, Used: gpus[0], Total: gpus[1]}, nil
	})
}
