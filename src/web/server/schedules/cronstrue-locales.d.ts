declare module 'cronstrue/locales/*'
