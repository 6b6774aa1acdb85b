package access

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	uuidA = "GPU-5ba2f1a6-3e4c-11f0-9a6c-0123456789ab"
	uuidB = "GPU-77aa0e10-3e4c-11f0-9a6c-0123456789ab"
	lineA = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: " + uuidA + ")\n"
	lineB = "GPU 1: NVIDIA H100 80GB HBM3 (UUID: " + uuidB + ")\n"
	top   = logBegin + "\n"
	end   = logEnd + "\n"
)

func TestParseDevices(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		log       string
		want      Devices
		wrong     string
		nothing   bool
		something bool
	}{
		"one GPU": {log: top + "device /dev/nvidia3\n" + lineA + end, want: Devices{Files: []string{"/dev/nvidia3"}, UUIDs: []string{uuidA}, Tool: toolLists}, something: true},
		"two GPUs": {log: top + "device /dev/nvidia3\ndevice /dev/nvidia11\n" + lineA + lineB + end,
			want: Devices{Files: []string{"/dev/nvidia3", "/dev/nvidia11"}, UUIDs: []string{uuidA, uuidB}, Tool: toolLists}, something: true},
		"a part of a GPU": {log: top + "device /dev/nvidia0\n" + lineA + "  MIG 1g.10gb     Device  0: (UUID: MIG-6b2f-aa)\n" + end,
			want: Devices{Files: []string{"/dev/nvidia0"}, UUIDs: []string{uuidA, "MIG-6b2f-aa"}, Tool: toolLists}, something: true},
		"none, by dash":            {log: top + "/bin/sh: 4: nvidia-smi: not found\n" + end, want: Devices{Tool: toolAbsent, ToolOutput: "/bin/sh: 4: nvidia-smi: not found"}, nothing: true},
		"none, by bash":            {log: top + "/bin/sh: line 4: nvidia-smi: command not found\n" + end, want: Devices{Tool: toolAbsent, ToolOutput: "/bin/sh: line 4: nvidia-smi: command not found"}, nothing: true},
		"none, by busybox":         {log: top + "sh: nvidia-smi: not found\n" + end, want: Devices{Tool: toolAbsent, ToolOutput: "sh: nvidia-smi: not found"}, nothing: true},
		"none, by nvidia-smi":      {log: top + "No devices were found\n" + end, want: Devices{Tool: toolNone, ToolOutput: "No devices were found"}, nothing: true},
		"none, by another release": {log: top + "No devices found.\n" + end, want: Devices{Tool: toolNone, ToolOutput: "No devices found."}, nothing: true},
		"a file, and no tool":      {log: top + "device /dev/nvidia0\nsh: nvidia-smi: not found\n" + end, want: Devices{Files: []string{"/dev/nvidia0"}, Tool: toolAbsent, ToolOutput: "sh: nvidia-smi: not found"}, something: true},
		"a GPU, and no file":       {log: top + lineA + end, want: Devices{UUIDs: []string{uuidA}, Tool: toolLists}, something: true},
		"NVML is unavailable": {log: top + "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the\nlatest NVIDIA driver is installed and running.\n" + end,
			want: Devices{Tool: toolFailed, ToolOutput: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."}},
		"NVML": {log: top + "Failed to initialize NVML: Driver/library version mismatch\n" + end, want: Devices{Tool: toolFailed, ToolOutput: "Failed to initialize NVML: Driver/library version mismatch"}},

		"empty":                           {wrong: "empty"},
		"one empty line":                  {log: "\n", wrong: "must begin with"},
		"without a beginning":             {log: lineA + end, wrong: "must begin with"},
		"the end alone":                   {log: end, wrong: "must begin with"},
		"the beginning alone":             {log: top, wrong: "must end with"},
		"cut before the end":              {log: top + "sh: nvidia-smi: not found\n", wrong: "must end with"},
		"cut in the end":                  {log: top + "sh: nvidia-smi: not found\n" + logEnd[:9], wrong: "has no newline"},
		"cut at the last byte":            {log: top + "sh: nvidia-smi: not found\n" + logEnd, wrong: "has no newline"},
		"after the end":                   {log: top + "sh: nvidia-smi: not found\n" + end + "more\n", wrong: "must end with"},
		"nvidia-smi is silent":            {log: top + end, wrong: "no output of nvidia-smi"},
		"files, and nvidia-smi is silent": {log: top + "device /dev/nvidia0\n" + end, wrong: "no output of nvidia-smi"},
		"an unknown line":                 {log: top + "Segmentation fault\n" + end, wrong: "line 2"},
		"another device file":             {log: top + "device /dev/nvidiactl\nsh: nvidia-smi: not found\n" + end, wrong: "line 2"},
		"a UUID that is cut":              {log: top + "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5ba2f1a6-3e4c)\n" + end, wrong: "line 2"},
		"not found, and then a GPU":       {log: top + "sh: nvidia-smi: not found\n" + lineA + end, wrong: "line 3"},
		"a GPU, and then not found":       {log: top + lineA + "No devices were found\n" + end, wrong: "line 3"},
		"failed, and then a GPU":          {log: top + "Failed to initialize NVML: Unknown Error\n" + lineA + end, wrong: "line 3"},
		"a part without its GPU":          {log: top + "  MIG 1g.10gb     Device  0: (UUID: MIG-6b2f-aa)\n" + end, wrong: "line 2"},
		"files after the list":            {log: top + lineA + "device /dev/nvidia0\n" + end, wrong: "line 3"},
		"not found in another sentence":   {log: top + "the entrypoint reports nvidia-smi: not found\n" + end, wrong: "line 2"},
		"twice":                           {log: top + "sh: nvidia-smi: not found\n" + end + top + "sh: nvidia-smi: not found\n" + end, wrong: "line 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseDevices([]byte(tt.log))
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("error %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want.Files == nil {
				want.Files = []string{}
			}
			if want.UUIDs == nil {
				want.UUIDs = []string{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if got.None() != tt.nothing || got.Any() != tt.something {
				t.Errorf("nothing %t, something %t", got.None(), got.Any())
			}
		})
	}
}

func FuzzParseSight(f *testing.F) {
	for _, log := range []string{
		"", top, top + end, top + "device /dev/nvidia3\n" + lineA + end, top + "sh: nvidia-smi: not found\n" + end, top + "No devices were found\n" + end,
		top + "Failed to initialize NVML: Unknown Error\nmore\n" + end, top + lineA + "  MIG 1g.10gb     Device  0: (UUID: MIG-6b2f-aa)\n" + end,
	} {
		f.Add([]byte(log))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		s, err := ParseDevices(log)
		if err != nil {
			return
		}
		if s.None() && s.Any() {
			t.Errorf("both nothing and something: %+v", s)
		}
		if s.None() && (bytes.Contains(log, []byte("\ndevice /dev/")) || bytes.Contains(log, []byte("UUID: GPU-"))) {
			t.Errorf("a log that names a device counts as none: %q", log)
		}
		// Whole or nothing: no part of a log that is cut off at its end is taken.
		for _, cut := range []int{1, len(logEnd), len(end)} {
			if _, err := ParseDevices(log[:len(log)-cut]); err == nil {
				t.Errorf("taken without its last %d bytes: %q", cut, log)
			}
		}
	})
}
