"""The other end of UDPCL, by uD3TN's Python library: reads a bundle, sends one, reads the report about it.

Usage: udpcl_peer.py OWN_ADDRESS PEER_ADDRESS FILE. A line of JSON for each step goes to FILE.
"""

import json
import socket
import sys

import cbor2
from pyd3tn.bundle7 import Bundle, BundleProcFlag, BundleStatusReport, create_bundle7

PORT = 4556


def main(own, peer, file):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, open(file, "w", buffering=1) as out:
        udp.settimeout(60)
        udp.bind((own, PORT))
        print(json.dumps({"step": "bound"}), file=out)

        octets = udp.recv(65535)
        bundle = Bundle.parse(octets)
        heard = {
            "step": "bundle",
            "source": str(bundle.primary_block.source),
            "destination": str(bundle.primary_block.destination),
            "payload": bytes(bundle.payload_block.data).decode(),
            # It computes the checksums again, and has its own order of blocks.
            "same_blocks": sorted(map(bytes, bundle)) == sorted(map(cbor2.dumps, cbor2.loads(octets))),
        }
        print(json.dumps(heard), file=out)

        answer = create_bundle7(
            "dtn://n1/",
            "dtn://n0/inbox",
            b"from pyd3tn",
            report_to_eid="dtn://n1/reports",
            flags=BundleProcFlag.REPORT_DELIVERY,
            hop_limit=5,
        )
        udp.sendto(bytes(answer), (peer, PORT))

        record = Bundle.parse(udp.recv(65535))
        report = BundleStatusReport.from_cbor(cbor2.loads(record.payload_block.data))
        told = {
            "step": "report",
            "administrative": record.primary_block.has_flag(BundleProcFlag.ADMINISTRATIVE_RECORD),
            "destination": str(record.primary_block.destination),
            "subject": str(report.subject_source_eid),
            "delivered": bool(report.is_delivered),
        }
        print(json.dumps(told), file=out)


main(*sys.argv[1:])
