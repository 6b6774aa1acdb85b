// Package load has the command load: the program of the load generator's Job of gate inference.
package load

import (
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// New returns the command load. It is hidden: gate inference runs it.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "load",
		Hidden: true,
		Short:  "Load an inference server at a fixed rate and print the times of every request",
		Long: `load sends streamed completion requests to a server with vLLM's API, at a fixed rate, and prints the
result as lines of JSON: the plan with its digest, every request, the figures, and a digest of all lines.

It exits 0 when it has printed the result, also if requests failed. It does not judge.`,
		Example: `  firstlight load --plan '{"url":"http://127.0.0.1:8000","model":"m","prompt":"a","ratePerSecond":10,"requests":200,"inputTokens":256,"outputTokens":32,"timeoutSeconds":120}'`,
		Args:    cobra.NoArgs,
	}
	text := cmd.Flags().String("plan", "", "the load, as JSON; concurrency 0 is an open loop")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, err := load.ParsePlan(*text)
		if err != nil {
			return cmdutil.UsageErrorf("--plan: %w", err)
		}
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableCompression: true,
			MaxIdleConns: p.Requests + 1, MaxIdleConnsPerHost: p.Requests + 1,
		}
		defer transport.CloseIdleConnections()
		client, err := origin.Client(p.URL, transport, 0)
		if err != nil {
			return cmdutil.UsageErrorf("--plan: %w", err)
		}
		began := time.Now()
		f, err := load.Run(cmd.Context(), p, &vllm.Client{Base: p.URL, HTTP: client, Now: time.Now})
		if err := errors.Join(err, cmd.Context().Err()); err != nil {
			return cmdutil.Unobserved(err) // told to stop
		}
		f.Tool = cmdutil.Version
		return cmdutil.Unobserved(load.Write(s.Out, p, f, began, time.Now()))
	}
	return cmd
}
