'use strict';

// Receives a slot with npm's pg-logical-replication; VERSION in the environment
// is wal2json's format-version.

const { LogicalReplicationService, Wal2JsonPlugin } = require('pg-logical-replication');
const { Tables, slot, zip } = require('./tables.js');

const version = process.env.VERSION;
const tables = new Tables();
const service = new LogicalReplicationService({}, { acknowledge: { auto: true, timeoutSeconds: 1 } });
const plugin = new Wal2JsonPlugin({ formatVersion: version, includeXids: true, includeTimestamp: true, includeLsn: true });

const named = columns => Object.fromEntries(columns.map(column => [column.name, column.value]));

function apply1(transaction) {
  tables.count('transaction');
  for (const change of transaction.change) {
    const table = `${change.schema}.${change.table}`;
    if (change.kind === 'insert')
      tables.insert(table, zip(change.columnnames, change.columnvalues));
    else if (change.kind === 'update')
      tables.update(table, zip(change.oldkeys.keynames, change.oldkeys.keyvalues),
        zip(change.columnnames, change.columnvalues));
    else if (change.kind === 'delete')
      tables.delete(table, zip(change.oldkeys.keynames, change.oldkeys.keyvalues));
    else
      tables.count(change.kind);
  }
}

function apply2(change) {
  const table = `${change.schema}.${change.table}`;
  if (change.action === 'I')
    tables.insert(table, named(change.columns));
  else if (change.action === 'U')
    tables.update(table, named(change.identity), named(change.columns));
  else if (change.action === 'D')
    tables.delete(table, named(change.identity));
  else
    tables.count(change.action === 'C' ? 'transaction' : change.action);
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

// the transaction that completes the workload is the last one of interest
let done = false;
service.on('data', async (lsn, message) => {
  if (done)
    return;
  try {
    (version === '1' ? apply1 : apply2)(message);
    if (!tables.complete || (version === '2' && message.action !== 'C'))
      return;
    done = true;
    tables.save();
    await service.acknowledge(lsn);
    await service.stop();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
});
service.on('error', fail);
service.subscribe(plugin, slot).catch(fail);
