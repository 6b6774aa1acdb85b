package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/inference"
)

// vllm is vllm serve MODEL in a job: a server on a port of this machine, until the job ends.
func vllm(ctx context.Context, w io.Writer, state world.State, p place, argv []string) (int, error) {
	log := inference.Log{Out: w}
	number := func(name string) (int, error) { return strconv.Atoi(option(argv, name)) }
	port, errPort := number("--port")
	maxLen, errLen := number("--max-model-len")
	gpus, errGPUs := number("--tensor-parallel-size")
	if err := errors.Join(errPort, errLen, errGPUs); err != nil {
		return 1, fmt.Errorf("vllm: invalid arguments %q: %w", argv, err)
	}
	if len(argv) < 2 || argv[0] != "serve" {
		return 1, fmt.Errorf("vllm: invalid arguments %q: want serve MODEL", argv)
	}
	log.Info("api_server.py:1896", "vLLM API server version 0.11.0")
	if gpus > p.gpus {
		log.Failure(fmt.Sprintf("ValueError: World size (%d) is larger than the number of available GPUs (%d) in this node.", gpus, p.gpus))
		return 1, nil
	}
	host, _ := state.Node(p.env("SLURMD_NODENAME"))
	server, err := inference.New(inference.Config{
		Model: argv[1], Aliases: aliases(argv), MaxModelLen: maxLen, GPUs: gpus, Figures: host.Hardware.Inference,
		Modifiers: func() world.Inference { return state.Inference },
	})
	if short, ok := errors.AsType[*inference.ContextError](err); ok {
		log.Info("kv_cache_utils.py:864", "GPU KV cache size: %d tokens", short.CacheTokens)
		log.Failure("ValueError: " + short.Error())
		return 1, nil
	}
	if err != nil {
		return 1, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(option(argv, "--host"), strconv.Itoa(port)))
	if err != nil {
		return 1, fmt.Errorf("vllm: %w", err)
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { server.Run(groupCtx); return nil })
	group.Go(func() error { return cmp.Or(web.Serve(listener), http.ErrServerClosed) })
	group.Go(func() error { <-groupCtx.Done(); return web.Close() })
	log.Plain("INFO:     Started server process [1]")
	log.Plain("INFO:     Application startup complete.")
	if err := group.Wait(); !errors.Is(err, http.ErrServerClosed) {
		return 1, err
	}
	return 0, nil
}

// aliases are the served names after the first one: vLLM takes several behind its option.
func aliases(argv []string) []string {
	at := slices.Index(argv, "--served-model-name")
	if at < 0 {
		return nil
	}
	var names []string
	for _, word := range argv[at+1:] {
		if strings.HasPrefix(word, "--") {
			break
		}
		names = append(names, word)
	}
	return names[min(1, len(names)):]
}
