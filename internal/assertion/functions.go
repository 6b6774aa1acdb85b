package assertion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmespath-community/go-jmespath/pkg/functions"
	"github.com/jmespath-community/go-jmespath/pkg/interpreter"
	"github.com/kyverno/chainsaw/pkg/apis"
	chainsaw "github.com/kyverno/chainsaw/pkg/engine/functions"
	"github.com/kyverno/chainsaw/pkg/metrics"
	"github.com/kyverno/kyverno-json/pkg/core/compilers"
	"github.com/kyverno/kyverno-json/pkg/core/compilers/jp"
	kyverno "github.com/kyverno/kyverno-json/pkg/jp"
	"github.com/prometheus/common/model"
)

// compilersAt returns Chainsaw's compilers with the time of the read as the current time,
// and without functions that cannot be replayed: environment and random values.
func compilersAt(at time.Time) compilers.Compilers {
	list := append(kyverno.GetFunctions(context.Background()), chainsaw.GetFunctions()...) //nolint:forbidigo // it is not used
	instead := map[string]functions.JpFunction{
		"env":                  notRepeatable("env", "the process environment"),
		"random":               notRepeatable("random", "random data"),
		"time_now":             is(at),
		"time_now_utc":         is(at.UTC()),
		"time_since":           timeSince(at),
		"x_metrics_decode":     metricsDecode(at),
		"x_k8s_server_version": serverVersion,
	}
	for i := range list {
		if handler, ok := instead[list[i].Name]; ok {
			list[i].Handler = handler
		}
	}
	out := compilers.Compilers{Jp: jp.NewCompiler(jp.WithFunctionCaller(interpreter.NewFunctionCaller(list...))), Cel: apis.DefaultCompilers.Cel}
	return out.WithDefaultCompiler(compilers.CompilerJP)
}

func notRepeatable(name, what string) functions.JpFunction {
	return func([]any) (any, error) {
		return nil, fmt.Errorf("%s: %s is not available: use bindings instead", name, what)
	}
}

func is(at time.Time) functions.JpFunction {
	return func([]any) (any, error) { return at.Format(time.RFC3339), nil }
}

// timeSince is Kyverno's time_since; an empty end is the current time.
func timeSince(at time.Time) functions.JpFunction {
	return func(args []any) (any, error) {
		var text [3]string
		for i := range text {
			s, ok := args[i].(string)
			if !ok {
				return nil, errors.New("time_since: arguments must be three strings")
			}
			text[i] = s
		}
		layout := cmp.Or(text[0], time.RFC3339)
		from, err := time.Parse(layout, text[1])
		if err != nil {
			return nil, fmt.Errorf("time_since: %w", err)
		}
		to := at
		if text[2] != "" {
			if to, err = time.Parse(layout, text[2]); err != nil {
				return nil, fmt.Errorf("time_since: %w", err)
			}
		}
		return to.Sub(from).String(), nil
	}
}

func metricsDecode(at time.Time) functions.JpFunction {
	return func(args []any) (any, error) {
		text, ok := args[0].(string)
		if !ok {
			return nil, errors.New("x_metrics_decode: argument must be a string")
		}
		out, err := metrics.Decode(text, model.TimeFromUnixNano(at.UnixNano()))
		if err != nil {
			return nil, fmt.Errorf("x_metrics_decode: %w", err)
		}
		return out, nil
	}
}

func serverVersion(args []any) (any, error) {
	s, ok := args[0].(interface{ server() *source })
	if !ok {
		return nil, errors.New("x_k8s_server_version: argument must be $config")
	}
	return s.server().ServerVersion()
}

func (s *source) server() *source { return s }
