// Package answering asks a model server behind a Service, through the API server, for its
// models and for one token of the first.
package answering

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// within bounds one request.
const within = 30 * time.Second

// Answer is what came back.
type Answer struct {
	// Service is "namespace/name:port".
	Service string   `json:"service"`
	Models  []string `json:"models,omitempty"`
	// Tokens that the first model answered with; Done: it answered at all.
	Tokens int  `json:"tokens,omitempty"`
	Done   bool `json:"done"`
	// Err says why it did not.
	Err string `json:"err,omitempty"`
}

// Ask asks. What goes wrong is part of the answer.
func Ask(ctx context.Context, cluster *kube.Cluster, service string) Answer {
	a := Answer{Service: service}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := a.ask(ctx, cluster); err != nil {
		a.Err = err.Error()
	}
	return a
}

func (a *Answer) ask(ctx context.Context, cluster *kube.Cluster) error {
	to, err := cluster.Proxy(a.Service)
	if err != nil {
		return err //nolint:wrapcheck // says to what
	}
	reach, err := origin.Client(to.BaseURL, to.Transport, 0)
	if err != nil {
		return fmt.Errorf("reach service %s: %w", a.Service, err)
	}
	client := &vllm.Client{Base: to.BaseURL, HTTP: reach, Now: time.Now}
	if a.Models, _, err = client.Models(ctx); err != nil {
		return fmt.Errorf("ask for its models: %w", err)
	}
	if len(a.Models) == 0 {
		return fmt.Errorf("ask for its models: it has none")
	}
	got, _, err := client.Complete(ctx, vllm.Request{Model: a.Models[0], Prompt: "1", MaxTokens: 1})
	if err != nil {
		return fmt.Errorf("ask %s for a token: %w", a.Models[0], err)
	}
	a.Done, a.Tokens = true, got.Tokens
	return nil
}
