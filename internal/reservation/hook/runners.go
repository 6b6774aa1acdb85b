package hook

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"

	"k8s.io/client-go/kubernetes"
)

// Runners returns the runner of each hook: a Program for a command, and Jobs in the cluster of
// client, which may be nil if no hook is a Job.
func Runners(client kubernetes.Interface, log *slog.Logger) func(Hook) (Runner, error) {
	return func(h Hook) (Runner, error) {
		switch {
		case h.Job == nil:
			return &Program{Hook: h, Log: log}, nil
		case client == nil:
			return nil, fmt.Errorf("the hook of %s is a Job, but no cluster runs Jobs: pass a kubeconfig; the local store runs none", h.Cloud)
		default:
			return &Jobs{Job: h.Job, Client: client, ID: randomID}, nil
		}
	}
}

func randomID() string {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw) // Read never fails
	return hex.EncodeToString(raw)
}
