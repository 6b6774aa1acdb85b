package training

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

// fakeTorch is as much of PyTorch as the measurement calls, with its own clock: each reading
// is a second later, and a batch of products takes 50 ms, on device 1 twice that.
const fakeTorch = `
import threading, time

_now, _lock, _here = [0.0], threading.Lock(), threading.local()

def _tick():
    with _lock:
        _now[0] += 1
        return _now[0]

time.monotonic, time.sleep = _tick, lambda seconds: None
bfloat16 = "bfloat16"

def randn(*size, device, dtype):
    assert (size, device, dtype) == ((8192, 8192), "cuda", bfloat16)
    return object()

def empty_like(a):
    return object()

def mm(a, b, out):
    _here.products = getattr(_here, "products", 0) + 1

class cuda:
    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
        def record(self):
            self.products = getattr(_here, "products", 0)
        def synchronize(self):
            pass
        def elapsed_time(self, end):
            assert end.products - self.products == 32
            return 50.0 * (1 + _here.device)
    def set_device(device):
        _here.device = device
    def get_device_properties(device):
        class properties:
            uuid = "5a1c-%d" % device
        return properties
`

// The measurement of GPUs is a program for PyTorch, which this machine may not have: it
// runs with a PyTorch of the test, and what it prints is read.
func TestTheMeasurementPrintsWhatIsRead(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "torch.py"), []byte(fakeTorch), 0o600); err != nil {
		t.Fatal(err)
	}
	const smi = "#!/bin/sh\necho \"$*\" >&2\necho 'GPU-5a1c-0, 700.00, 700.00, 1755'\necho 'GPU-5a1c-1, 500.00, 700.00, 1485'\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(smi), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-c", measureGPUs()+"echo the trainer starts")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "GPUS_PER_NODE=2", "JOB_COMPLETION_INDEX=3")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !bytes.HasSuffix(out, []byte("the trainer starts\n")) {
		t.Fatalf("%v: %s%s", err, out, &stderr)
	}
	gpus, err := trainer.ParseMatmul(bytes.NewReader(out))
	if err != nil || len(gpus) != 2 {
		t.Fatalf("%v: %+v of %s%s", err, gpus, out, &stderr)
	}
	const products = 32 * 2 * 8192.0 * 8192 * 8192 / 0.050 / 1e12
	for i, want := range []trainer.MatmulGPU{
		{Rank: 6, Device: 0, UUID: "GPU-5a1c-0", Size: 8192, TFLOPS: products, PowerLimit: new(700.), PowerDefault: new(700.), SMClock: new(1755.)},
		{Rank: 7, Device: 1, UUID: "GPU-5a1c-1", Size: 8192, TFLOPS: products / 2, PowerLimit: new(500.), PowerDefault: new(700.), SMClock: new(1485.)},
	} {
		got := gpus[i]
		if got.Seconds <= 0 || got.TFLOPS < want.TFLOPS*0.999 || got.TFLOPS > want.TFLOPS*1.001 {
			t.Errorf("%+v, want %.1f TFLOPS", got, want.TFLOPS)
		}
		got.Seconds, got.TFLOPS = 0, want.TFLOPS
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// The trainer runs even if the measurement fails.
func TestWithoutPyTorchTheTrainerRuns(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "torch.py"), []byte("raise ImportError('no CUDA')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-c", measureGPUs()+"echo the trainer starts")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "GPUS_PER_NODE=1", "JOB_COMPLETION_INDEX=0")
	out, err := cmd.Output()
	if err != nil || string(out) != "the trainer starts\n" {
		t.Errorf("%v: %s", err, out)
	}
}
