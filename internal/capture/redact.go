package capture

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// identities match what names one machine or part. The first group is replaced.
var identities = []*regexp.Regexp{
	regexp.MustCompile(`\b([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})\b`), // UUIDs
	regexp.MustCompile(`(?i)<(?:serial|board_serial|chassis_serial_number|module_serial|gpu_part_number|board_part_number|board_id)>([^<]+)<`),
	regexp.MustCompile(`(?im)^\s*(?:serial number|board id|gpu part number|chassis serial number|module id serial)\s*:\s*(\S+)`),
	regexp.MustCompile(`(?i)"(?:serial_num|serial)"\s*:\s*"([^"]+)"`),
	regexp.MustCompile(`\b0x([0-9a-fA-F]{14,16})\b`),                                                    // GUIDs, replaced without 0x, too
	regexp.MustCompile(`(?:\b[SHRN]-?|\()([0-9a-f]{16})\b`),                                             // GUIDs of ibnetdiscover and ibdiagnet
	regexp.MustCompile(`"([^"\s]+) (?:mlx\d_\d+|HCA-\d+)"`),                                             // hosts in node descriptions
	regexp.MustCompile(`(?i)\b((?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3}):[0-9a-f]*:[0-9a-f:]*[0-9a-f])\b`), // addresses of IPv6, GIDs
	regexp.MustCompile(`\b([0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4})\b`),             // GUIDs of ibv_devinfo
	regexp.MustCompile(`\b((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})\b`),                                    // MAC addresses
	regexp.MustCompile(`\b((?:10|172|192)(?:\.\d{1,3}){3})\b`),                                          // private addresses
	regexp.MustCompile(`(?i)(?:user|login|path|sudo)[=:]\s*(/home/[^/\s]+)`),
}

// absent are values that name nothing.
var absent = map[string]bool{"N/A": true, "[N/A]": true, "": true, "Unknown Error": true, "ERR!": true, "0000000000000000": true}

// Redactor replaces identities: a value becomes the same other value everywhere, with its length,
// its letters for letters and its digits for digits. The seed must be unknown to readers.
type Redactor struct {
	seed  []byte
	hosts map[string]string
	done  map[string]string
}

// NewRedactor replaces also the names of hosts, by "host-1" and so on.
func NewRedactor(seed []byte, hosts ...string) *Redactor {
	r := &Redactor{seed: seed, hosts: map[string]string{}, done: map[string]string{}}
	for _, h := range hosts {
		if h != "" && r.hosts[h] == "" {
			r.hosts[h] = "host-" + strconv.Itoa(1+len(r.hosts))
		}
	}
	return r
}

// Redact returns the text without identities.
func (r *Redactor) Redact(text string) string {
	values := map[string]bool{}
	for _, pattern := range identities {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if value := strings.TrimSpace(m[1]); !absent[value] {
				values[value] = true
			}
		}
	}
	// A value is replaced wherever it is, also outside the pattern that found it.
	to := maps.Clone(r.hosts)
	for value := range values {
		if _, host := to[value]; !host {
			to[value] = r.replacement(value)
		}
	}
	return replacer(to).Replace(text)
}

// replacer replaces a longer value before one that is a part of it.
func replacer(to map[string]string) *strings.Replacer {
	var pairs []string
	for _, value := range slices.SortedFunc(maps.Keys(to), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, value, to[value])
	}
	return strings.NewReplacer(pairs...)
}

// replacement keeps the shape of a value: every character that is neither a letter nor a digit stays.
func (r *Redactor) replacement(value string) string {
	if out, ok := r.done[value]; ok {
		return out
	}
	sum := sha256.Sum256(append(append([]byte{}, r.seed...), strings.ToLower(value)...))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))) //nolint:gosec // names, keyed by a secret seed
	out := []byte(value)
	for i := range out {
		switch c := out[i]; {
		case c >= '0' && c <= '9':
			out[i] = byte('0' + rng.IntN(10))
		case c >= 'a' && c <= 'f':
			out[i] = byte('a' + rng.IntN(6))
		case c >= 'A' && c <= 'F':
			out[i] = byte('A' + rng.IntN(6))
		case c >= 'g' && c <= 'z':
			out[i] = byte('g' + rng.IntN(20))
		case c >= 'G' && c <= 'Z':
			out[i] = byte('G' + rng.IntN(20))
		}
	}
	r.done[value] = string(out)
	return string(out)
}
