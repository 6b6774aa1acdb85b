package node

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const (
	remedyLayout     = "apply the layout (label nvidia.com/mig.config of the node, nvidia-mig-parted or nvidia-smi mig), or correct gpustack.mig of the site file"
	remedyUndeclared = "remove the MIG devices and the mode (nvidia-smi mig -dci && nvidia-smi mig -dgi; nvidia-smi -mig 0), or declare them: gpustack.mig of the site file"
)

// judgeMIGLayout compares the MIG devices of a host with those that the site declares. nvidia-smi -q
// prints the memory of a device and not its compute slices: 3g.40gb and 4g.40gb count as the same.
func (g *Gate) judgeMIGLayout(b *check.Builder, h *host, at slots, doc document) {
	if g.site.GPUStack.MIG == nil {
		for _, gpu := range doc.log.GPUs {
			if m := gpu.MIG; m != nil && (len(m.Devices) > 0 || m.On()) {
				b.Fail(doc.obs.ID, at.gpu(h, gpu.BusID), remedyUndeclared, "is in MIG mode with %s, and the site declares no MIG", describeMIG(gpu))
			}
		}
		return
	}
	if len(doc.log.GPUs) == g.gpus() { // else judgeCount names the missing GPU
		g.judgeMIGDeclared(b, h, at, doc)
	}
}

// judgeMIGDeclared judges a host whose GPUs all answer.
func (g *Gate) judgeMIGDeclared(b *check.Builder, h *host, at slots, doc document) {
	found, whole, known := map[int]int{}, 0, true
	var seen []string
	for _, gpu := range doc.log.GPUs {
		suspect := at.gpu(h, gpu.BusID)
		seen = append(seen, strings.TrimPrefix(suspect, h.name+"/")+": "+describeMIG(gpu))
		switch {
		case gpu.MIG == nil || gpu.MIG.Enabled != nil && !*gpu.MIG.Enabled && len(gpu.MIG.Devices) == 0:
			whole++
			continue
		case gpu.MIG.Enabled == nil:
			known = false // judgeMIG reports it
			continue
		}
		sizes, ok := g.instances(b, doc.obs, suspect, gpu)
		known = known && ok
		for size, n := range sizes {
			found[size] += n
		}
	}
	if !known {
		return
	}
	declared := g.site.GPUStack.MIG
	want := map[int]int{}
	for profile, n := range declared.Devices {
		want[memoryOf(profile)] += n
	}
	if whole != declared.WholeGPUs || !maps.Equal(found, want) {
		b.Fail(doc.obs.ID, h.name, remedyLayout, "has %s and %d GPUs without MIG, and the site declares %s and %d GPUs without MIG; %s",
			describeSizes(found), whole, describeSizes(want), declared.WholeGPUs, strings.Join(seen, "; "))
	}
}

// instances counts the GPU instances of a GPU by their memory in GB; ok is false where they are not
// known, or not whole.
func (g *Gate) instances(b *check.Builder, o check.Observation, suspect string, gpu nvidia.GPU) (sizes map[int]int, ok bool) {
	sizes = map[int]int{}
	computes := map[int64]int{}
	for _, d := range gpu.MIG.Devices {
		if d.GPUInstance == nil || d.MemoryMiB == nil || gpu.MemoryTotalMiB == nil || *gpu.MemoryTotalMiB < 1 {
			b.Unobserved(o.ID, suspect, remedyUnobserved, "does not tell the GPU instance and the memory of a MIG device: its profile is unknown")
			return nil, false
		}
		if computes[*d.GPUInstance]++; computes[*d.GPUInstance] == 1 {
			sizes[nvidia.MIGMemoryGB(*d.MemoryMiB, *gpu.MemoryTotalMiB)]++
		}
	}
	ok = true
	for _, instance := range slices.Sorted(maps.Keys(computes)) {
		if n := computes[instance]; n > 1 {
			b.Fail(o.ID, suspect, remedyLayout, "GPU instance %d is divided into %d compute instances, and the site declares whole ones", instance, n)
			ok = false
		}
	}
	return sizes, ok
}

// memoryOf is the memory in a profile's name in GB: 10 of 1g.10gb and of 1g.10gb+me. The site's
// names are valid.
func memoryOf(profile string) int {
	_, rest, _ := strings.Cut(profile, ".")
	digits, _, _ := strings.Cut(rest, "gb")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func describeMIG(gpu nvidia.GPU) string {
	if gpu.MIG == nil || len(gpu.MIG.Devices) == 0 {
		return "no MIG device"
	}
	sizes := map[int]int{}
	for _, d := range gpu.MIG.Devices {
		if d.MemoryMiB == nil || gpu.MemoryTotalMiB == nil || *gpu.MemoryTotalMiB < 1 {
			return fmt.Sprintf("%d MIG devices", len(gpu.MIG.Devices))
		}
		sizes[nvidia.MIGMemoryGB(*d.MemoryMiB, *gpu.MemoryTotalMiB)]++
	}
	return describeSizes(sizes)
}

// describeSizes lists MIG devices by their memory: "28 MIG devices of 10 GB, 8 of 40 GB".
func describeSizes(sizes map[int]int) string {
	var out []string
	for _, size := range slices.Sorted(maps.Keys(sizes)) {
		devices := "MIG devices "
		if len(out) > 0 {
			devices = ""
		}
		out = append(out, fmt.Sprintf("%d %sof %d GB", sizes[size], devices, size))
	}
	if len(out) == 0 {
		return "no MIG device"
	}
	return strings.Join(out, ", ")
}
