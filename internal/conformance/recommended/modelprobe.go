package recommended

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// kindRequest is the observation of requests to a model server: ModelAnswer, or a list.
const kindRequest = "request-to-a-model"

// probeTimeout limits the requests to one Service.
const probeTimeout = 30 * time.Second

// ModelAnswer is the answer of a model server behind a Service.
type ModelAnswer struct {
	// Service is "namespace/name:port".
	Service string   `json:"service"`
	Models  []string `json:"models,omitempty"`
	// Tokens that the first model generated; Done: it answered.
	Tokens int  `json:"tokens,omitempty"`
	Done   bool `json:"done"`
	// Err is why it did not.
	Err string `json:"err,omitempty"`
}

// answered reports whether a model answered; the first is named.
func (a ModelAnswer) answered() bool { return a.Done && len(a.Models) > 0 }

// ProbeModel requests the models behind a Service, through the API server's proxy, and one
// token of the first. An error is part of the answer.
func ProbeModel(ctx context.Context, cluster *kube.Cluster, service string) ModelAnswer {
	a := ModelAnswer{Service: service}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := a.request(ctx, cluster); err != nil {
		a.Err = err.Error()
	}
	return a
}

func (a *ModelAnswer) request(ctx context.Context, cluster *kube.Cluster) error {
	proxy, err := cluster.Proxy(a.Service)
	if err != nil {
		return err
	}
	http, err := origin.Client(proxy.BaseURL, proxy.Transport, 0)
	if err != nil {
		return fmt.Errorf("connect to service %s: %w", a.Service, err)
	}
	client := &vllm.Client{Base: proxy.BaseURL, HTTP: http, Now: time.Now}
	if a.Models, _, err = client.Models(ctx); err != nil {
		return fmt.Errorf("list models: %w", err)
	}
	if len(a.Models) == 0 {
		return errors.New("list models: the server has none")
	}
	completion, _, err := client.Complete(ctx, vllm.Request{Model: a.Models[0], Prompt: "1", MaxTokens: 1})
	if err != nil {
		return fmt.Errorf("request a token of %s: %w", a.Models[0], err)
	}
	a.Done, a.Tokens = true, completion.Tokens
	return nil
}
