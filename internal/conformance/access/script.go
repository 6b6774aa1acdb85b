package access

import "github.com/firstlight/firstlight/internal/conformance/dra/trial"

// The lines between which a container says what it sees: a log without them is cut.
const (
	begins = "firstlight-devices begins"
	ends   = "firstlight-devices ends"
)

// script says which GPUs a container sees: by their device files, and by the
// driver. It needs a shell and nothing else of the image: where a GPU is given to a
// container, its toolkit puts nvidia-smi there.
const script = `exec 2>&1
echo ` + begins + `
for d in /dev/nvidia[0-9]*; do if [ -e "$d" ]; then echo "device $d"; fi; done
nvidia-smi -L
echo ` + ends + `
` + trial.Sleep
