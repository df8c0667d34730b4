#!/usr/bin/env python3
"""The fleet in half a minute: pictures inline and by URL, what a relay does with bad jobs, and how it ends."""
from fleet import *


class Quick(FleetTest):
    def test_inline(self):
        hub = self.hub()
        machine = self.machine(hub).start()
        client = hub.client()
        data = picture()
        self.put_job(client, 'a', data)
        message = self.expect_ok(client, 'a', data)
        self.assertEqual(message.headers['Sluice-Media-Type'], 'image/x-portable-graymap')
        self.assertEqual(message.headers['Sluice-Machine'], 'one')
        self.assertIn('total', json.loads(message.headers['Sluice-Timings']))
        self.expect_empty(client)
        machine.stop()


main()
