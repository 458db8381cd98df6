'use strict';

// Polls a slot with npm's @graphile/lds, which asks for wal2json's version 1
// through SQL.

const subscribe = require('@graphile/lds').default;
const { Tables, slot, zip } = require('./tables.js');

const tables = new Tables();
// it takes errors for passing ones and polls on
const complain = console.error;
console.error = (...args) => {
  complain(...args);
  process.exit(1);
};

function apply(change) {
  const table = `${change.schema}.${change.table}`;
  const old = () => zip(tables.keys[table], change.keys);
  if (change._ === 'insertC')
    tables.insert(table, change.data);
  else if (change._ === 'update')
    tables.update(table, old(), change.data);
  else if (change._ === 'delete')
    tables.delete(table, old());
  if (!tables.complete)
    return;
  tables.save();
  process.exit(0);
}

// the schema in which it keeps its own state is not what is compared
subscribe(undefined, apply, { slotName: slot, tablePattern: 'shop.*', sleepDuration: 50 })
  .catch(error => console.error(error));
