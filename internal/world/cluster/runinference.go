package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/inference"
)

// crashTime is how long vLLM runs before it fails.
const crashTime = 300 * time.Millisecond

// inference simulates vllm serve with a real server on the node's address, published for port
// forwarding.
func (w *worker) inference(out io.Writer, attempt int, gpus []int) (int, error) {
	maxLen, okLen := w.env.number("MAX_MODEL_LEN", 0)
	tp, okTP := w.env.number("TP", 1)
	model := w.env["MODEL"]
	if !okLen || !okTP || model == "" {
		return usage(out, "vllm serve: error: bad environment: MODEL=%q MAX_MODEL_LEN=%q TP=%q", model, w.env["MAX_MODEL_LEN"], w.env["TP"])
	}
	log := inference.Log{Out: out}
	log.Info("api_server.py:1896", "vLLM API server version 0.11.0")
	log.Info("__init__.py:1815", "Using max model len %d", maxLen)
	if tp > len(gpus) {
		log.Failure(fmt.Sprintf("ValueError: World size (%d) is larger than the number of available GPUs (%d) in this node.", tp, len(gpus)))
		return 1, sleepOr(w, crashTime)
	}
	state := w.runtime.world.Recent()
	host, _ := state.Node(w.pod.Spec.NodeName)
	served := cmp.Or(w.env["SERVED_MODEL_NAME"], model) // --served-model-name
	server, err := inference.New(inference.Config{
		Model: served, Root: model, MaxModelLen: maxLen, GPUs: tp, Figures: host.Hardware.Inference,
		Modifiers: func() world.Inference { return w.runtime.world.Recent().Inference },
	})
	var short *inference.ContextError
	if errors.As(err, &short) {
		log.Info("kv_cache_utils.py:864", "GPU KV cache size: %d tokens", short.CacheTokens)
		log.Failure("ValueError: " + short.Error())
		return 1, sleepOr(w, crashTime)
	}
	if err != nil {
		return 1, fmt.Errorf("run inference: %w", err)
	}
	if err := w.setLoad(gpus, servingLoad()); err != nil {
		return 1, err
	}
	return w.serve(server, log, attempt)
}

// serve serves on a port of the node's address until the pod is stopped.
func (w *worker) serve(server *inference.Server, log inference.Log, attempt int) (int, error) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	closed, err := w.listen(ctx, server)
	if err != nil {
		return 1, ignoreDone(w, err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer closed()
	defer cancel()
	wg.Go(func() { server.Run(ctx) })
	if err := poll.Until(ctx, 20*time.Millisecond, "the server", func(context.Context) error {
		if !server.Ready() {
			return errors.New("loading")
		}
		return nil
	}); err != nil {
		return 0, nil // the pod was stopped
	}
	log.Plain("INFO:     Started server process [1]")
	log.Plain("INFO:     Application startup complete.")
	if attempt > 0 { // it was held while it crashed
		if err := annotateHold(ctx, w.runtime.client, w.pod, false); err != nil {
			return 0, ignoreDone(w, err)
		}
	}
	<-ctx.Done()
	return 0, nil
}

func sleepOr(w *worker, d time.Duration) error { return ignoreDone(w, sleep(w.ctx, d)) }
