package ibsim

import (
	"bytes"
	"fmt"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// fullMember is the membership bit of a P_Key (InfiniBand specification, 10.9.1.2).
const fullMember = 0x8000

// partitions is a partition file of OpenSM by which each adapter gets its partition keys. A line has
// one port: OpenSM merges definitions of one key, and reads lines of limited length.
func partitions(t fabric.Topology) []byte {
	var b bytes.Buffer
	b.WriteString("Default=0x7fff: SELF=full;\n")
	for _, h := range t.HCAs {
		for _, key := range h.PKeys {
			name, member := fmt.Sprintf("partition%d", key&^fullMember), "limited"
			if key|fullMember == 0xffff {
				name = "Default"
			}
			if key&fullMember != 0 {
				member = "full"
			}
			fmt.Fprintf(&b, "%s=0x%x: 0x%x=%s;\n", name, key&^fullMember, h.GUID, member)
		}
	}
	return b.Bytes()
}
